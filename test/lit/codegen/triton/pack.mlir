// RUN: mini-opt %s -t triton | filecheck %s

/// Grid loops side by side: each has a function and a range of the program index.
// CHECK:      def k_part0(pid, x, s0):
// CHECK-NEXT:     d0 = pid * 256 + tl.arange(0, 256)
// CHECK:      def k_part1(pid, y, s0):
// CHECK:      def k(x, y, s0):
// CHECK-NEXT:     pid = tl.program_id(0)
// CHECK-NEXT:     if pid < (4):
// CHECK-NEXT:         k_part0(pid - (0), x, s0)
// CHECK-NEXT:     else:
// CHECK-NEXT:         k_part1(pid - ((4)), y, s0)
// CHECK:      'grid': ('(4) + (((s0 + 255) // 256))', '1', '1'),
kernel.func @k(update %x : !kernel.buf<f32[1000]>, update %y : !kernel.buf<f32[s0]>) [s0] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 1000 <run grid, lanes 256, tail mask> { %c = scalar.constant 1.0 : f32  store %c, %x[d0] }
  parallel d0 : s0 <run grid, lanes 256, tail mask> { %c = scalar.constant 2.0 : f32  store %c, %y[d0] } }
