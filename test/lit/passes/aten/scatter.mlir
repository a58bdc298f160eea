// RUN: mini-opt %s --split-input-file -p aten-scatter,aten-dce --print-remarks | filecheck %s

/// One element a row, into a constant: a comparison; the gather keeps the check of the index.

// CHECK-LABEL: @row
// CHECK-NEXT: %[[P:.*]] = aten.arange.start_step(start = 0, end = 9, dtype = i64, device = "cpu")
// CHECK-NEXT: %[[R:.*]] = aten.view.default(%[[P]], size = [1, 9])
// CHECK-NEXT: %[[E:.*]] = aten.expand.default(%[[R]], size = [4, 9]) {{.*}} : !aten.t<i64[4, 9]:[0, 1]>
// CHECK-NEXT: %[[K:.*]] = aten.gather.default(%[[E]], dim = 1, index = %i)
// CHECK-NEXT: %[[C:.*]] = aten.eq.Tensor(%[[K]], %[[R]]) {{.*}} : !aten.t<bool[4, 9]>
// CHECK-NEXT: %[[Z:.*]] = aten.scalar_tensor.default(s = 0.0, dtype = f32, device = "cpu")
// CHECK-NEXT: %[[V:.*]] = aten.scalar_tensor.default(s = -1.0, dtype = f32, device = "cpu")
// CHECK-NEXT: %s = aten.where.self(%[[C]], %[[V]], %[[Z]]) {{.*}} : !aten.t<f32[4, 9]>
// CHECK: accepted scatter.value %s: one element a row: compared with the position {bytes = 144}
func.func @row(%i: !aten.t<i64[4, 1]>) -> !aten.t<f32[4, 9]> {
  %z = aten.full.default(size = [4, 9], fill_value = 0.0) : !aten.t<f32[4, 9]>
  %s = aten.scatter.value(%z, dim = 1, index = %i, value = -1.0) : !aten.t<f32[4, 9]>
  func.return %s : !aten.t<f32[4, 9]>
}

// -----

/// A sum into zeros adds the zero: -0.0 becomes 0.0 there. Symbolic sizes.

// CHECK-LABEL: @sum
// CHECK: %[[S:.*]] = aten.add.Tensor(%x, %{{.*}}) {{.*}} : !aten.t<f32[1, s0]>
// CHECK-NEXT: %s = aten.where.self(%{{.*}}, %[[S]], %{{.*}}) {{.*}} : !aten.t<f32[7, s0]>
func.func @sum(%x: !aten.t<f32[1, s0]>, %i: !aten.t<i64[1, s0]>, %l: !aten.t<f32[7, s0]>) -> !aten.t<f32[7, s0]> attributes {symbols = #aten.symbols<s0 = [min 2]>} {
  %z = aten.full_like.default(%l, fill_value = 0) : !aten.t<f32[7, s0]>
  %s = aten.scatter_add.default(%z, dim = 0, index = %i, src = %x) : !aten.t<f32[7, s0]>
  func.return %s : !aten.t<f32[7, s0]>
}

// -----

/// Not: two elements a row, a part of the rows, a tensor that is no constant.

// CHECK-LABEL: @keep
// CHECK-COUNT-3: aten.scatter.value
// CHECK: refused scatter.value %a: several elements of a row may be hit
// CHECK: refused scatter.value %b: the index covers a part of the rows
// CHECK: refused scatter.value %c: the tensor is no constant: a scatter in place writes less
func.func @keep(%i: !aten.t<i64[4, 2]>, %j: !aten.t<i64[3, 1]>, %k: !aten.t<i64[4, 1]>, %x: !aten.t<f32[4, 9]>) -> (!aten.t<f32[4, 9]>, !aten.t<f32[4, 9]>, !aten.t<f32[4, 9]>) {
  %z = aten.full.default(size = [4, 9], fill_value = 0.0) : !aten.t<f32[4, 9]>
  %a = aten.scatter.value(%z, dim = 1, index = %i, value = -1.0) : !aten.t<f32[4, 9]>
  %b = aten.scatter.value(%z, dim = 1, index = %j, value = -1.0) : !aten.t<f32[4, 9]>
  %c = aten.scatter.value(%x, dim = 1, index = %k, value = -1.0) : !aten.t<f32[4, 9]>
  func.return %a, %b, %c : !aten.t<f32[4, 9]>, !aten.t<f32[4, 9]>, !aten.t<f32[4, 9]>
}
