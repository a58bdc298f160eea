// RUN: not mini-opt %s -p 'kernel-memory{slack=0}' 2>&1 | filecheck %s
// RUN: mini-opt %s -p 'kernel-memory{slack=0 max-peak=none}' | filecheck %s --check-prefix=NONE
// RUN: mini-opt %s -p 'kernel-memory{slack=4096}' | filecheck %s --check-prefix=NONE

/// A plan above the peak of running op by op is refused, with its place; not with `max-peak=none`,
/// nor where it is above by no more than `slack`.

// CHECK: the plan of @call needs 8192 bytes at its peak (at op 3, `kernel.alloc`); running op by op needs 4096: fuse less, or give max-peak=none
// NONE:  func.func @call
// NONE-SAME: planned_peak = 8192
kernel.func @k(read %x : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[1024]>) [] config {target = "cpp"} {
  parallel d0 : 1024 { %v = load %x[d0] : f32  store %v, %o[d0] } }
func.func @call(%x: !aten.t<f32[1024]>) -> !aten.t<f32[1024]> attributes {eager_peak = 4096 : i64} {
  %a = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @k(%x, %a)[]
  %b = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @k(%a, %b)[]
  func.return %b : !aten.t<f32[1024]>
}
