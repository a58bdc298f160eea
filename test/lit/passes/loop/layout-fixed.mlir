// RUN: mini-opt %s --split-input-file -p loop-layout --print-remarks | filecheck %s

/// A result that a nest and the caller read: the caller's stays as it was promised.

// CHECK-LABEL: @returned
// CHECK: %b = loop.extern "aten.convolution.default"(%a, %w)
// CHECK-NEXT: %b_turned = loop.nest (d0: 4, d1: 16, d2: 28, d3: 28) -> (%{{.*}} : !aten.t<bf16[4, 16, 28, 28]@cuda>)
// CHECK: func.return %b_turned
func.func @returned(%x: !aten.t<bf16[4, 16, 28, 28]@cuda>, %w: !aten.t<bf16[16, 16, 1, 1]@cuda>) -> !aten.t<bf16[4, 16, 28, 28]@cuda> {
  %a = loop.extern "aten.convolution.default"(%x, %w) args [#loop.arg<0>, #loop.arg<1>, #aten.none, #loop.index<[1, 1]>, #loop.index<[0, 0]>, #loop.index<[1, 1]>, false, #loop.index<[0, 0]>, 1 : i64] : (!aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 1, 1]@cuda>) -> !aten.t<bf16[4, 16, 28, 28]@cuda>
  %b = loop.extern "aten.convolution.default"(%a, %w) args [#loop.arg<0>, #loop.arg<1>, #aten.none, #loop.index<[1, 1]>, #loop.index<[0, 0]>, #loop.index<[1, 1]>, false, #loop.index<[0, 0]>, 1 : i64] : (!aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 1, 1]@cuda>) -> !aten.t<bf16[4, 16, 28, 28]@cuda>
  func.return %b : !aten.t<bf16[4, 16, 28, 28]@cuda>
}

// -----

/// A result whose layout is free is handed out as it lies: no copy, and the function's type says so.

// CHECK-LABEL: @loose
// CHECK-SAME: -> !aten.t<bf16[4, 16, 28, 28]:[12544, 1, 448, 16]@cuda>
// CHECK: %a = loop.extern
// CHECK-NEXT: func.return %a : !aten.t<bf16[4, 16, 28, 28]:[12544, 1, 448, 16]@cuda>
func.func @loose(%x: !aten.t<bf16[4, 16, 28, 28]@cuda>, %w: !aten.t<bf16[16, 16, 1, 1]@cuda>) -> !aten.t<bf16[4, 16, 28, 28]@cuda> attributes {loose_results = array<i64: 0>} {
  %a = loop.extern "aten.convolution.default"(%x, %w) args [#loop.arg<0>, #loop.arg<1>, #aten.none, #loop.index<[1, 1]>, #loop.index<[0, 0]>, #loop.index<[1, 1]>, false, #loop.index<[0, 0]>, 1 : i64] : (!aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 1, 1]@cuda>) -> !aten.t<bf16[4, 16, 28, 28]@cuda>
  func.return %a : !aten.t<bf16[4, 16, 28, 28]@cuda>
}

// -----

/// A sum over an image: its variables follow the order of memory.

// CHECK-LABEL: @sum
// CHECK: loop.nest (d0: 4) reduce (d1: 28, d2: 28, d3: 16)
// CHECK-NEXT: loop.load %a[d0, d3, d1, d2]
func.func @sum(%x: !aten.t<bf16[4, 16, 28, 28]@cuda>, %w: !aten.t<bf16[16, 16, 1, 1]@cuda>) -> !aten.t<bf16[4]@cuda> {
  %a = loop.extern "aten.convolution.default"(%x, %w) args [#loop.arg<0>, #loop.arg<1>, #aten.none, #loop.index<[1, 1]>, #loop.index<[0, 0]>, #loop.index<[1, 1]>, false, #loop.index<[0, 0]>, 1 : i64] : (!aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 1, 1]@cuda>) -> !aten.t<bf16[4, 16, 28, 28]@cuda>
  %s = loop.nest (d0: 4) reduce (d1: 16, d2: 28, d3: 28) -> (%o : !aten.t<bf16[4]@cuda>) origins ["sum"] {
    %0 = loop.load %a[d0, d1, d2, d3] : bf16
    %1 = loop.reduce add %0 : bf16 -> bf16
    loop.store %1, %o[d0]
  }
  func.return %s : !aten.t<bf16[4]@cuda>
}

// -----

/// Negative twin: a channel at a time there is nothing to multiply.

// CHECK-LABEL: @grouped
// CHECK-NEXT: %a = loop.extern "aten.convolution.default"(%x, %w)
// CHECK: refused convolution %a: it has groups
func.func @grouped(%x: !aten.t<bf16[4, 16, 28, 28]@cuda>, %w: !aten.t<bf16[16, 1, 1, 1]@cuda>) -> !aten.t<bf16[4, 16, 28, 28]@cuda> {
  %a = loop.extern "aten.convolution.default"(%x, %w) args [#loop.arg<0>, #loop.arg<1>, #aten.none, #loop.index<[1, 1]>, #loop.index<[0, 0]>, #loop.index<[1, 1]>, false, #loop.index<[0, 0]>, 16 : i64] : (!aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 1, 1, 1]@cuda>) -> !aten.t<bf16[4, 16, 28, 28]@cuda>
  func.return %a : !aten.t<bf16[4, 16, 28, 28]@cuda>
}

// -----

/// Negative twin: f32 is for tensor cores only where TF32 is allowed, which nobody says here.

// CHECK-LABEL: @wide
// CHECK-NEXT: %a = loop.extern "aten.convolution.default"(%x, %w)
// CHECK: refused convolution %a: f32 is not multiplied by tensor cores, or not always
func.func @wide(%x: !aten.t<f32[4, 16, 28, 28]@cuda>, %w: !aten.t<f32[16, 16, 1, 1]@cuda>) -> !aten.t<f32[4, 16, 28, 28]@cuda> {
  %a = loop.extern "aten.convolution.default"(%x, %w) args [#loop.arg<0>, #loop.arg<1>, #aten.none, #loop.index<[1, 1]>, #loop.index<[0, 0]>, #loop.index<[1, 1]>, false, #loop.index<[0, 0]>, 1 : i64] : (!aten.t<f32[4, 16, 28, 28]@cuda>, !aten.t<f32[16, 16, 1, 1]@cuda>) -> !aten.t<f32[4, 16, 28, 28]@cuda>
  func.return %a : !aten.t<f32[4, 16, 28, 28]@cuda>
}

// -----

/// A contiguous copy of an argument that comes channels last vanishes where it is read so.

// CHECK-LABEL: @saved
// CHECK-NEXT: %a = loop.extern "aten.convolution.default"(%x, %w)
func.func @saved(%x: !aten.t<bf16[4, 16, 28, 28]:[12544, 1, 448, 16]@cuda>, %w: !aten.t<bf16[16, 16, 1, 1]@cuda>) -> !aten.t<bf16[4]@cuda> {
  %c = loop.nest (d0: 4, d1: 16, d2: 28, d3: 28) -> (%o : !aten.t<bf16[4, 16, 28, 28]@cuda>) origins ["clone"] {
    %0 = loop.load %x[d0, d1, d2, d3] : bf16
    loop.store %0, %o[d0, d1, d2, d3]
  }
  %a = loop.extern "aten.convolution.default"(%c, %w) args [#loop.arg<0>, #loop.arg<1>, #aten.none, #loop.index<[1, 1]>, #loop.index<[0, 0]>, #loop.index<[1, 1]>, false, #loop.index<[0, 0]>, 1 : i64] : (!aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 1, 1]@cuda>) -> !aten.t<bf16[4, 16, 28, 28]@cuda>
  %s = loop.nest (d0: 4) reduce (d1: 16, d2: 28, d3: 28) -> (%o : !aten.t<bf16[4]@cuda>) origins ["sum"] {
    %0 = loop.load %a[d0, d1, d2, d3] : bf16
    %1 = loop.reduce add %0 : bf16 -> bf16
    loop.store %1, %o[d0]
  }
  func.return %s : !aten.t<bf16[4]@cuda>
}
