// RUN: mini-opt %s --split-input-file -p loop-layout --print-remarks | filecheck %s

/// Channels become innermost in memory and in the nest between two convolutions. The argument is
/// copied once, the kernels of more than one pixel too; the result is stored as it was promised.

// CHECK-LABEL: @two
// CHECK: %x_turned = loop.nest (d0: 4, d1: 28, d2: 28, d3: 16) -> (%o : !aten.t<bf16[4, 16, 28, 28]:[12544, 1, 448, 16]@cuda>)
// CHECK-NEXT: loop.load %x[d0, d3, d1, d2]
// CHECK-NEXT: loop.store %{{.*}}, %o[d0, d3, d1, d2]
// CHECK: %w_turned = loop.nest (d0: 16, d1: 3, d2: 3, d3: 16)
// CHECK: %a = loop.extern "aten.convolution.default"(%x_turned, %w_turned)
// CHECK-SAME: -> !aten.t<bf16[4, 16, 28, 28]:[12544, 1, 448, 16]@cuda>
// CHECK: %b = loop.nest (d0: 4, d1: 28, d2: 28, d3: 16) -> (%o_2 : !aten.t<bf16[4, 16, 28, 28]:[12544, 1, 448, 16]@cuda>)
// CHECK-NEXT: loop.load %a[d0, d3, d1, d2]
// CHECK: %c = loop.extern "aten.convolution.default"(%b, %v)
// CHECK: %d = loop.nest (d0: 4, d1: 16, d2: 28, d3: 28) -> (%o_3 : !aten.t<bf16[4, 16, 28, 28]@cuda>)
// CHECK: func.return %d
// CHECK: accepted convolution %a, convolution %c: channels last {bytes = 602112}
func.func @two(%x: !aten.t<bf16[4, 16, 28, 28]@cuda>, %w: !aten.t<bf16[16, 16, 3, 3]@cuda>, %v: !aten.t<bf16[16, 16, 1, 1]@cuda>) -> !aten.t<bf16[4, 16, 28, 28]@cuda> {
  %a = loop.extern "aten.convolution.default"(%x, %w) args [#loop.arg<0>, #loop.arg<1>, #aten.none, #loop.index<[1, 1]>, #loop.index<[1, 1]>, #loop.index<[1, 1]>, false, #loop.index<[0, 0]>, 1 : i64] : (!aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 3, 3]@cuda>) -> !aten.t<bf16[4, 16, 28, 28]@cuda>
  %b = loop.nest (d0: 4, d1: 16, d2: 28, d3: 28) -> (%o : !aten.t<bf16[4, 16, 28, 28]@cuda>) origins ["relu"] {
    %0 = loop.load %a[d0, d1, d2, d3] : bf16
    %1 = scalar.cast %0 : bf16 to f32
    %2 = scalar.relu %1 : f32
    %3 = scalar.cast %2 : f32 to bf16
    loop.store %3, %o[d0, d1, d2, d3]
  }
  %c = loop.extern "aten.convolution.default"(%b, %v) args [#loop.arg<0>, #loop.arg<1>, #aten.none, #loop.index<[1, 1]>, #loop.index<[0, 0]>, #loop.index<[1, 1]>, false, #loop.index<[0, 0]>, 1 : i64] : (!aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 1, 1]@cuda>) -> !aten.t<bf16[4, 16, 28, 28]@cuda>
  %d = loop.nest (d0: 4, d1: 16, d2: 28, d3: 28) -> (%o : !aten.t<bf16[4, 16, 28, 28]@cuda>) origins ["neg"] {
    %0 = loop.load %c[d0, d1, d2, d3] : bf16
    %1 = scalar.neg %0 : bf16
    loop.store %1, %o[d0, d1, d2, d3]
  }
  func.return %d : !aten.t<bf16[4, 16, 28, 28]@cuda>
}

// -----

/// Negative twin: one convolution between an argument and a result; copies would move as much as the
/// library does.

// CHECK-LABEL: @alone
// CHECK-NEXT: %a = loop.extern "aten.convolution.default"(%x, %w)
// CHECK-NEXT: func.return %a
// CHECK: refused convolution %a: copies move 401408 bytes, the library's own 401408
func.func @alone(%x: !aten.t<bf16[4, 16, 28, 28]@cuda>, %w: !aten.t<bf16[16, 16, 1, 1]@cuda>) -> !aten.t<bf16[4, 16, 28, 28]@cuda> {
  %a = loop.extern "aten.convolution.default"(%x, %w) args [#loop.arg<0>, #loop.arg<1>, #aten.none, #loop.index<[1, 1]>, #loop.index<[0, 0]>, #loop.index<[1, 1]>, false, #loop.index<[0, 0]>, 1 : i64] : (!aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 1, 1]@cuda>) -> !aten.t<bf16[4, 16, 28, 28]@cuda>
  func.return %a : !aten.t<bf16[4, 16, 28, 28]@cuda>
}
