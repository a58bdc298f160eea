// RUN: mini-opt %s --split-input-file -p kernel-capture{cudagraphs=true} --print-remarks | filecheck %s
// RUN: mini-opt %s --split-input-file -p kernel-capture | filecheck %s --check-prefix OFF
// OFF-NOT: capture

/// A program of kernels alone can be replayed; the argument that it writes is listed.
// CHECK: func.func @call(%x: {{.*}}) -> !aten.t<f32[64]@cuda> attributes {capture = #loop.index<[1]>}
// CHECK: // remark: [kernel-capture] accepted call: writes 1 of its arguments
kernel.func @k(read %x : !kernel.buf<f32[64]>, update %o : !kernel.buf<f32[64]>) [] config {target = "triton"} {
  parallel d0 : 64 { %v = load %x[d0] : f32  store %v, %o[d0] } }
func.func @call(%x: !aten.t<f32[64]@cuda>, %table: !aten.t<f32[64]@cuda>) -> !aten.t<f32[64]@cuda> {
  kernel.launch @k(%x, %table)[]
  func.return %x : !aten.t<f32[64]@cuda>
}

// -----
/// Negative twins: what a recording cannot repeat is named.
// CHECK: attributes {capture_refused = "the tensor y lies on the device cpu"}
// CHECK: // remark: [kernel-capture] refused call: the tensor y lies on the device cpu
func.func @call(%x: !aten.t<f32[64]@cuda>, %y: !aten.t<f32[]>) -> !aten.t<f32[64]@cuda> {
  func.return %x : !aten.t<f32[64]@cuda>
}

// -----
// CHECK: attributes {capture_refused = "aten.item reads a number from the device"}
func.func @call(%x: !aten.t<f32[]@cuda>) -> !aten.float {
  %n = kernel.extern "aten.item.default"(%x) args [#loop.arg<0>] : (!aten.t<f32[]@cuda>) -> !aten.float
  func.return %n : !aten.float
}

// -----
// CHECK: attributes {capture_refused = "a random state is read or set on the host"}
func.func @call() -> !aten.t<i64[2]@cuda> {
  %s = kernel.extern "minductor.state"() args [] kwargs {device = #aten.device<"cuda">} {ordered, random} : () -> !aten.t<i64[2]@cuda>
  func.return %s : !aten.t<i64[2]@cuda>
}

// -----
// CHECK: attributes {capture_refused = "_c10d_functional.all_reduce is a collective between processes"}
func.func @call(%x: !aten.t<f32[64]@cuda>) -> !aten.t<f32[64]@cuda> {
  %r = kernel.extern "_c10d_functional.all_reduce.default"(%x) args [#loop.arg<0>, "sum", "0"] {ordered} : (!aten.t<f32[64]@cuda>) -> !aten.t<f32[64]@cuda>
  func.return %r : !aten.t<f32[64]@cuda>
}

// -----
// CHECK: capture_refused = "a size of n is known only on the way"
func.func @call(%x: !aten.t<f32[64]@cuda>) -> !aten.t<i64[u0, 1]@cuda> attributes {symbols = #aten.symbols<u0 = [min 0, max 64]>} {
  %n = kernel.extern "aten.nonzero.default"(%x) args [#loop.arg<0>] : (!aten.t<f32[64]@cuda>) -> !aten.t<i64[u0, 1]@cuda>
  func.return %n : !aten.t<i64[u0, 1]@cuda>
}

// -----
/// A number that the sizes tell is none of the device's: the lengths that flash attention gives.
// CHECK-LABEL: @lengths
// CHECK-NOT: capture_refused
// CHECK: aten._scaled_dot_product_flash_attention
func.func @lengths(%q: !aten.t<bf16[2, 4, 16, 64]@cuda>) -> !aten.t<bf16[2, 4, 16, 64]@cuda> {
  %o, %l, %a, %b, %m, %n, %c, %d, %e = kernel.extern "aten._scaled_dot_product_flash_attention.default"(%q) args [#loop.arg<0>, #loop.arg<0>, #loop.arg<0>] {random, ordered} : (!aten.t<bf16[2, 4, 16, 64]@cuda>) -> (!aten.t<bf16[2, 4, 16, 64]@cuda>, !aten.t<f32[2, 4, 16]@cuda>, !aten.absent, !aten.absent, !aten.int<16>, !aten.int<16>, !aten.absent, !aten.absent, !aten.absent)
  func.return %o : !aten.t<bf16[2, 4, 16, 64]@cuda>
}
