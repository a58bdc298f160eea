// RUN: mini-opt %s --split-input-file -p aten-products,aten-dce --print-remarks | filecheck %s

/// A transposed operand is read as it lies; a transposed result is written so.

// CHECK-LABEL: @operand
// CHECK-NEXT: %a = aten.permute.default(%x, dims = [1, 0])
// CHECK-NEXT: %c = aten.mm.default(%a, %w) : !aten.t<f32[8, 3]>
// CHECK-NEXT: func.return %c
// CHECK: accepted mm.default %c: the product reads the transposed operand as it lies {bytes = 256}
func.func @operand(%x: !aten.t<f32[4, 8]>, %w: !aten.t<f32[4, 3]>) -> !aten.t<f32[8, 3]> {
  %a = aten.permute.default(%x, dims = [1, 0]) : !aten.t<f32[8, 4]:[1, 8]>
  %b = aten.clone.default(%a, memory_format = contiguous_format) : !aten.t<f32[8, 4]>
  %c = aten.mm.default(%b, %w) : !aten.t<f32[8, 3]>
  func.return %c : !aten.t<f32[8, 3]>
}

// -----

// CHECK-LABEL: @result
// CHECK-NEXT: %[[W:.*]] = aten.permute.default(%w, dims = [0, 2, 1]) {{.*}} : !aten.t<f32[s0, 3, 4]:[12, 1, 3]>
// CHECK-NEXT: %[[X:.*]] = aten.permute.default(%x, dims = [0, 2, 1]) {{.*}} : !aten.t<f32[s0, 4, 8]:[32, 1, 4]>
// CHECK-NEXT: %e = aten.bmm.default(%[[W]], %[[X]]) {{.*}} : !aten.t<f32[s0, 3, 8]>
// CHECK: accepted clone.default %e: the product writes its result transposed {bytes = 192 * s0}
func.func @result(%x: !aten.t<f32[s0, 8, 4]>, %w: !aten.t<f32[s0, 4, 3]>) -> !aten.t<f32[s0, 3, 8]> attributes {symbols = #aten.symbols<s0 = [min 2]>} {
  %c = aten.bmm.default(%x, %w) : !aten.t<f32[s0, 8, 3]>
  %d = aten.permute.default(%c, dims = [0, 2, 1]) : !aten.t<f32[s0, 3, 8]:[24, 1, 3]>
  %e = aten.clone.default(%d, memory_format = contiguous_format) : !aten.t<f32[s0, 3, 8]>
  func.return %e : !aten.t<f32[s0, 3, 8]>
}

// -----

/// Not: a copy that is read elsewhere, an operand with gaps, a product that is read both ways, and a
/// storage that is overwritten between the copy and the product.

// CHECK-LABEL: @keep
// CHECK-COUNT-4: aten.clone.default
// CHECK: refused mm.default %c: the copy %b is read elsewhere too
// CHECK: refused mm.default %g: the operand lies in an order that libraries do not read
// CHECK: refused clone.default %i: the product is read in its own order too
// CHECK: refused mm.default %m: it would read an operand after that is overwritten
func.func @keep(%x: !aten.t<f32[4, 4]>, %w: !aten.t<f32[4, 4]>, %y: !aten.t<f32[4, 4]:[8, 2]>, %z: !aten.t<f32[4, 4]>) -> (!aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>) {
  %a = aten.permute.default(%x, dims = [1, 0]) : !aten.t<f32[4, 4]:[1, 4]>
  %b = aten.clone.default(%a, memory_format = contiguous_format) : !aten.t<f32[4, 4]>
  %c = aten.mm.default(%b, %w) : !aten.t<f32[4, 4]>
  %d = aten.relu.default(%b) : !aten.t<f32[4, 4]>
  %f = aten.clone.default(%y, memory_format = contiguous_format) : !aten.t<f32[4, 4]>
  %g = aten.mm.default(%f, %w) : !aten.t<f32[4, 4]>
  %h = aten.permute.default(%c, dims = [1, 0]) : !aten.t<f32[4, 4]:[1, 4]>
  %i = aten.clone.default(%h, memory_format = contiguous_format) : !aten.t<f32[4, 4]>
  %j = aten.permute.default(%z, dims = [1, 0]) : !aten.t<f32[4, 4]:[1, 4]>
  %k = aten.clone.default(%j, memory_format = contiguous_format) : !aten.t<f32[4, 4]>
  %l = aten.copy_.default(%z, %w) : !aten.t<f32[4, 4]>
  %m = aten.mm.default(%k, %w) : !aten.t<f32[4, 4]>
  func.return %c, %d, %g, %i, %m, %w : !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>
}
