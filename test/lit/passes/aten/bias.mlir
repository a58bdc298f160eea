// RUN: mini-opt %s --split-input-file -p aten-bias,aten-dce --print-remarks | filecheck %s

/// On a CPU a bias is added where kernels read the sum; where only libraries and the caller do, the
/// product adds it.

// CHECK-LABEL: @both
// CHECK-NEXT: %[[P:.*]] = aten.mm.default(%x, %w) {origin = "addmm"} : !aten.t<f32[64, 256]>
// CHECK-NEXT: %a = aten.add.Tensor(%[[P]], %b) {origin = "addmm"} : !aten.t<f32[64, 256]>
// CHECK-NEXT: %c = aten.relu.default(%a)
// CHECK-NEXT: %[[Q:.*]] = aten.addmm.default(%g, %c, %v) {origin = "add"} : !aten.t<f32[64, 32]>
// CHECK-NEXT: %f = aten.view.default(%[[Q]], size = [8, 8, 32])
// CHECK-NEXT: func.return %f
// CHECK: accepted addmm.default %a: the kernel that reads the sum adds the bias {bytes = 131072}
func.func @both(%x: !aten.t<f32[64, 32]>, %w: !aten.t<f32[32, 256]>, %b: !aten.t<f32[256]>, %v: !aten.t<f32[256, 32]>, %g: !aten.t<f32[32]>) -> !aten.t<f32[8, 8, 32]> {
  %a = aten.addmm.default(%b, %x, %w) : !aten.t<f32[64, 256]>
  %c = aten.relu.default(%a) : !aten.t<f32[64, 256]>
  %d = aten.mm.default(%c, %v) : !aten.t<f32[64, 32]>
  %e = aten.view.default(%d, size = [8, 8, 32]) : !aten.t<f32[8, 8, 32]>
  %f = aten.add.Tensor(%e, %g) : !aten.t<f32[8, 8, 32]>
  func.return %f : !aten.t<f32[8, 8, 32]>
}

// -----

/// Symbolic sizes; a sum that goes to another product stays in its own.

// CHECK-LABEL: @batch
// CHECK-NEXT: %[[P:.*]] = aten.bmm.default(%x, %w)
// CHECK-NEXT: %a = aten.add.Tensor(%[[P]], %b)
// CHECK: aten.addmm.default(%r, %y, %y)
// CHECK: {bytes = 512 * s0}
func.func @batch(%x: !aten.t<f32[s0, 4, 8]>, %w: !aten.t<f32[s0, 8, 16]>, %b: !aten.t<f32[s0, 4, 16]>, %y: !aten.t<f32[4, 4]>, %r: !aten.t<f32[4]>) -> (!aten.t<f32[s0, 4, 16]>, !aten.t<f32[4, 4]>) attributes {symbols = #aten.symbols<s0 = [min 2]>} {
  %a = aten.baddbmm.default(%b, %x, %w) : !aten.t<f32[s0, 4, 16]>
  %c = aten.relu.default(%a) : !aten.t<f32[s0, 4, 16]>
  %d = aten.addmm.default(%r, %y, %y) : !aten.t<f32[4, 4]>
  %e = aten.mm.default(%d, %y) : !aten.t<f32[4, 4]>
  func.return %c, %e : !aten.t<f32[s0, 4, 16]>, !aten.t<f32[4, 4]>
}

// -----

/// Not: half types, where the rounding would change; CUDA, whose library adds a row for nothing; a
/// scaled sum; a product that is read elsewhere; a summand that is no row.

// CHECK-LABEL: @keep
// CHECK-COUNT-3: aten.addmm.default
// CHECK: %i = aten.add.Tensor
// CHECK: %l = aten.add.Tensor
// CHECK: refused addmm.default %a: the product would be rounded to bf16 before the bias is added
// CHECK: refused addmm.default %c: the library adds the bias as it writes: nothing is saved
// CHECK: refused addmm.default %e: beta or alpha scale the sum
// CHECK: refused add.Tensor %i: the product is used elsewhere too
// CHECK: refused add.Tensor %l: the summand is no row: the kernel that makes it can add it
func.func @keep(%h: !aten.t<bf16[4, 4]>, %hb: !aten.t<bf16[4]>, %u: !aten.t<f32[4, 4]@cuda>, %ub: !aten.t<f32[4]@cuda>, %x: !aten.t<f32[4, 4]>, %b: !aten.t<f32[4]>) -> (!aten.t<bf16[4, 4]>, !aten.t<f32[4, 4]@cuda>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>) {
  %a = aten.addmm.default(%hb, %h, %h) : !aten.t<bf16[4, 4]>
  %ar = aten.relu.default(%a) : !aten.t<bf16[4, 4]>
  %c = aten.addmm.default(%ub, %u, %u) : !aten.t<f32[4, 4]@cuda>
  %d = aten.relu.default(%c) : !aten.t<f32[4, 4]@cuda>
  %e = aten.addmm.default(%b, %x, %x, alpha = 0.5) : !aten.t<f32[4, 4]>
  %f = aten.relu.default(%e) : !aten.t<f32[4, 4]>
  %g = aten.mm.default(%x, %x) : !aten.t<f32[4, 4]>
  %i = aten.add.Tensor(%g, %b) : !aten.t<f32[4, 4]>
  %j = aten.sin.default(%g) : !aten.t<f32[4, 4]>
  %k = aten.mm.default(%x, %x) : !aten.t<f32[4, 4]>
  %l = aten.add.Tensor(%x, %k) : !aten.t<f32[4, 4]>
  func.return %ar, %d, %f, %i, %j, %l : !aten.t<bf16[4, 4]>, !aten.t<f32[4, 4]@cuda>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>
}
