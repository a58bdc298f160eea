// RUN: mini-opt %s -t wrapper | filecheck %s

/// The boxed convention: inputs leave the list, are checked in one call, and die by `del` as soon
/// as the program frees them; kernels are bound once, under their origins.

// CHECK:      """Host program. Kernel launches: 2, extern calls: 0."""
// CHECK:      import torch
// CHECK:      check_inputs = host.inputs(
// CHECK-NEXT:     ("x", torch.float32, "cpu", (8, 4), (4, 1)),
// CHECK-NEXT:     ("y", torch.float32, "cpu", (8, 4), (1, 8)),
// CHECK-NEXT: )
// CHECK-NEXT: empty_cpu = host.empty_cpu
// CHECK-NEXT: # add, ~relu (model.py:12, model.py:13)
// CHECK-NEXT: cpp_fused_add_0 = host.kernel("cpp_fused_add_0", pointers=3, sizes=0)
// CHECK-NEXT: # neg
// CHECK-NEXT: cpp_fused_neg_1 = host.kernel("cpp_fused_neg_1", pointers=1, sizes=0)
kernel.func @cpp_fused_add_0(read %x : !kernel.buf<f32[32]>, read %y : !kernel.buf<f32[32]>, write %o : !kernel.buf<f32[32]>) [] config {target = "cpp"} origins ["add model.py:12", "~relu model.py:13"] {
  kernel.parallel d0 : 32 {
    %a = kernel.load %x[d0] : f32
    kernel.store %a, %o[d0]
  }
}
kernel.func @cpp_fused_neg_1(update %x : !kernel.buf<f32[32]>) [] config {target = "cpp"} origins ["neg"] {
}

// CHECK:      def call(args):
// CHECK-NEXT:     x, y = args
// CHECK-NEXT:     args.clear()
// CHECK-NEXT:     check_inputs(x, y)
// CHECK-NEXT:     buf = empty_cpu((8, 4), (4, 1), torch.float32)
// CHECK-NEXT:     cpp_fused_add_0(x, y, buf)
// CHECK-NEXT:     del x, y
// CHECK-NEXT:     cpp_fused_neg_1(buf)
// CHECK-NEXT:     return [buf]
func.func @call(%x: !aten.t<f32[8, 4]>, %y: !aten.t<f32[8, 4]:[1, 8]>) -> !aten.t<f32[8, 4]> {
  kernel.check %x : !aten.t<f32[8, 4]>
  kernel.check %y : !aten.t<f32[8, 4]:[1, 8]>
  %buf = kernel.alloc : !aten.t<f32[8, 4]>
  kernel.launch @cpp_fused_add_0(%x, %y, %buf)[]
  kernel.free %x
  kernel.free %y
  kernel.launch @cpp_fused_neg_1(%buf)[]
  func.return %buf : !aten.t<f32[8, 4]>
}
