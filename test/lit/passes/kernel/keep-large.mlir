// RUN: mini-opt %s -p "kernel-keep,kernel-stream{stream=1}" --split-input-file | filecheck %s --check-prefix WHOLE
// RUN: mini-opt %s -p "kernel-keep{stream=1},kernel-stream{stream=1}" --split-input-file | filecheck %s
// RUN: mini-opt %s -p "kernel-keep{stream=1 room=1024},kernel-stream{stream=1}" --split-input-file | filecheck %s --check-prefix WHOLE

/// A large output is stored past the caches: what waits for a sum does so in a row of the kernel's
/// own. Where the output is not large, or has rows for which there is no room, in the output.
// CHECK-LABEL: kernel.func @softmax
// CHECK:         %row = kernel.local stack : !kernel.buf<f32[1024]>
// CHECK:           kernel.store %e, %row[d1]
// CHECK:           %e_1 = kernel.load %row[d2] : f32
// CHECK:           kernel.store %q, %o[1024 * d0 + d2] {nt}
// WHOLE-LABEL: kernel.func @softmax
// WHOLE-NOT:     kernel.local
// WHOLE:         kernel.store %e, %o[1024 * d0 + d1]
// WHOLE:         kernel.store %q, %o[1024 * d0 + d2]{{$}}
kernel.func @softmax(read %x : !kernel.buf<f32[262144]>, write %o : !kernel.buf<f32[262144]>) [] config {target = "cpp", threads = 2} {
  parallel d0 : 256 <run threads> {
    %m = reduce d1 : 1024 <lanes 16, tail none> [max] -> f32 {
      %v = load %x[1024 * d0 + d1] : f32
      yield %v : f32 }
    %s = reduce d1 : 1024 <lanes 16, tail none> [add] -> f32 {
      %v = load %x[1024 * d0 + d1] : f32
      %c = scalar.sub %v, %m : f32
      %e = scalar.exp %c : f32
      yield %e : f32 }
    parallel d2 : 1024 <lanes 16, tail none> {
      %v = load %x[1024 * d0 + d2] : f32
      %c = scalar.sub %v, %m : f32
      %e = scalar.exp %c : f32
      %q = scalar.div %e, %s : f32
      store %q, %o[1024 * d0 + d2] } } }
func.func @call(%x: !aten.t<f32[262144]>) -> (!aten.t<f32[262144]>) {
  %a = kernel.alloc : !aten.t<f32[262144]>
  kernel.launch @softmax(%x, %a)[]
  func.return %a : !aten.t<f32[262144]>
}
