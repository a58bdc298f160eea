// RUN: mini-opt %s -t wrapper --split-input-file | filecheck %s

/// Reuse hands storage on: under the same layout it is a name, under another a view of it. What the
/// program marks `pool` comes from the pool of large buffers. A part of an input that is returned is
/// a view to autograd too.

// CHECK:          buf0 = empty_cpu((4, 4), (4, 1), torch.float32)
// CHECK-NEXT:     buf1 = buf0  # reuse
// CHECK-NEXT:     del buf0
// CHECK-NEXT:     buf2 = view(buf1, (2, 8), (8, 1), 0)  # reuse
// CHECK-NEXT:     del buf1
// CHECK-NEXT:     buf3 = view_as(buf2, (8,), (1,), 0, torch.int64)  # reuse
// CHECK-NEXT:     del buf2
// CHECK-NEXT:     part = input_view(x, (2,), (4,), 1)
// CHECK-NEXT:     bits = view_as(x, (4,), (1,), 2, torch.int32)
// CHECK-NEXT:     big = empty_pooled((4096, 4096), (4096, 1), torch.float32)
// CHECK-NEXT:     del big, x
// CHECK-NEXT:     return [buf3, part, bits]
func.func @call(%x: !aten.t<f32[4, 4]>) -> (!aten.t<i64[8]>, !aten.t<f32[2]:[4]>, !aten.t<i32[4]>) {
  %buf0 = kernel.alloc : !aten.t<f32[4, 4]>
  %buf1 = kernel.reuse %buf0 : !aten.t<f32[4, 4]> to !aten.t<f32[4, 4]>
  %buf2 = kernel.reuse %buf1 : !aten.t<f32[4, 4]> to !aten.t<f32[2, 8]>
  %buf3 = kernel.reuse %buf2 : !aten.t<f32[2, 8]> to !aten.t<i64[8]>
  %part = kernel.reinterpret %x offset 1 : !aten.t<f32[4, 4]> to !aten.t<f32[2]:[4]>
  %bits = kernel.reinterpret %x offset 2 : !aten.t<f32[4, 4]> to !aten.t<i32[4]>
  %big = kernel.alloc {pool} : !aten.t<f32[4096, 4096]>
  kernel.free %big, %x
  func.return %buf3, %part, %bits : !aten.t<i64[8]>, !aten.t<f32[2]:[4]>, !aten.t<i32[4]>
}

// -----

/// An input that kernels want aligned is copied where it is not; one that is written gets its
/// values back at the end. A numbered device becomes the current one.

// CHECK:      on_device = host.on("cuda:1")
// CHECK-NEXT: check_inputs =
// CHECK:          with on_device():
// CHECK-NEXT:         x, y = args
// CHECK-NEXT:         args.clear()
// CHECK-NEXT:         check_inputs(x, y)
// CHECK-NEXT:         x = aligned(x, 16)
// CHECK-NEXT:         y_given = y
// CHECK-NEXT:         y = aligned(y, 16)
// CHECK-NEXT:         buf = empty_cuda((8,), (1,), torch.float32)
// CHECK-NEXT:         k(x, y)
// CHECK-NEXT:         del x
// CHECK-NEXT:         if y is not y_given:
// CHECK-NEXT:             y_given.copy_(y)
// CHECK-NEXT:         return [buf]
kernel.func @k(read %x : !kernel.buf<f32[8]>, update %y : !kernel.buf<f32[8]>) [] config {target = "triton"} {
}
func.func @call(%x: !aten.t<f32[8]@"cuda:1">, %y: !aten.t<f32[8]@"cuda:1">) -> !aten.t<f32[8]@"cuda:1"> {
  kernel.check %x align 16 : !aten.t<f32[8]@"cuda:1">
  kernel.check %y align 16 : !aten.t<f32[8]@"cuda:1">
  %buf = kernel.alloc : !aten.t<f32[8]@"cuda:1">
  kernel.launch @k(%x, %y)[]
  kernel.free %x, %y
  func.return %buf : !aten.t<f32[8]@"cuda:1">
}
