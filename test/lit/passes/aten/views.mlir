// RUN: mini-opt %s --split-input-file -p aten-views,aten-dce --print-remarks | filecheck %s

/// Chains of views become one; a clone that nobody can tell from its operand goes.

// CHECK-LABEL: @chain
// CHECK-NEXT: %e = aten.view.default(%x, size = [8, 4]) : !aten.t<f32[8, 4]>
// CHECK-NEXT: %g = aten.relu.default(%e) : !aten.t<f32[8, 4]>
// CHECK-NEXT: func.return %g
func.func @chain(%x: !aten.t<f32[4, 8]>) -> !aten.t<f32[8, 4]> {
  %a = aten.alias.default(%x) : !aten.t<f32[4, 8]>
  %b = aten.permute.default(%a, dims = [1, 0]) : !aten.t<f32[8, 4]:[1, 8]>
  %c = aten.permute.default(%b, dims = [1, 0]) : !aten.t<f32[4, 8]>
  %d = aten.view.default(%c, size = [32]) : !aten.t<f32[32]>
  %e = aten.view.default(%d, size = [8, 4]) : !aten.t<f32[8, 4]>
  %f = aten.clone.default(%e) : !aten.t<f32[8, 4]>
  %g = aten.relu.default(%f) : !aten.t<f32[8, 4]>
  func.return %g : !aten.t<f32[8, 4]>
}

// -----

/// unsqueeze and squeeze undo each other on any layout, as does a slice of everything; transposes
/// become permutes.

// CHECK-LABEL: @layout
// CHECK-NEXT: %a = aten.permute.default(%x, dims = [1, 0]) {origin = "transpose"} : !aten.t<f32[8, 4]:[1, 8]>
// CHECK-NEXT: %d = aten.exp.default(%a)
func.func @layout(%x: !aten.t<f32[4, 8]>) -> !aten.t<f32[8, 4]:[1, 8]> {
  %a = aten.transpose.int(%x, dim0 = 0, dim1 = -1) : !aten.t<f32[8, 4]:[1, 8]>
  %b = aten.unsqueeze.default(%a, dim = 0) : !aten.t<f32[1, 8, 4]:[32, 1, 8]>
  %c = aten.squeeze.dims(%b, dim = [0]) : !aten.t<f32[8, 4]:[1, 8]>
  %s = aten.slice.Tensor(%c, start = 0, end = 9223372036854775807) : !aten.t<f32[8, 4]:[1, 8]>
  %d = aten.exp.default(%s) : !aten.t<f32[8, 4]:[1, 8]>
  func.return %d : !aten.t<f32[8, 4]:[1, 8]>
}

// -----

/// A clone stays where its storage can be told: as a result beside an argument or another result,
/// where the operand is overwritten before a read, and where it changes the layout.

// CHECK-LABEL: @keep
// CHECK-COUNT-4: aten.clone.default
// CHECK: refused clone.default %a: a result of the function would share the storage of an argument
// CHECK: refused clone.default %c: two results of the function would share storage
// CHECK: refused clone.default %d: it is read after the original is overwritten
// CHECK: refused clone.default %g: the copy has other strides
func.func @keep(%x: !aten.t<f32[4]>, %y: !aten.t<f32[4, 8]>) -> (!aten.t<f32[4]>, !aten.t<f32[4]>, !aten.t<f32[4]>, !aten.t<f32[4]>, !aten.t<f32[8, 4]>) {
  %a = aten.clone.default(%x) : !aten.t<f32[4]>
  %b = aten.exp.default(%x) : !aten.t<f32[4]>
  %c = aten.clone.default(%b) : !aten.t<f32[4]>
  %d = aten.clone.default(%x) : !aten.t<f32[4]>
  %w = aten.copy_.default(%x, %b) : !aten.t<f32[4]>
  %e = aten.exp.default(%d) : !aten.t<f32[4]>
  %f = aten.permute.default(%y, dims = [1, 0]) : !aten.t<f32[8, 4]:[1, 8]>
  %g = aten.clone.default(%f, memory_format = contiguous_format) : !aten.t<f32[8, 4]>
  func.return %a, %b, %c, %e, %g : !aten.t<f32[4]>, !aten.t<f32[4]>, !aten.t<f32[4]>, !aten.t<f32[4]>, !aten.t<f32[8, 4]>
}

// -----

/// An alias that the function returns beside what it shows stays a tensor of its own.

// CHECK-LABEL: @alias
// CHECK: %b = aten.alias.default(%a)
// CHECK: refused alias.default %b: the function returns it beside the tensor that it shows
func.func @alias(%x: !aten.t<f32[4]>) -> (!aten.t<f32[4]>, !aten.t<f32[4]>) {
  %a = aten.exp.default(%x) : !aten.t<f32[4]>
  %b = aten.alias.default(%a) : !aten.t<f32[4]>
  func.return %a, %b : !aten.t<f32[4]>, !aten.t<f32[4]>
}

// -----

/// An offset counts from the start of the storage, so a window on a view is one on what it shows.
// CHECK-LABEL: func.func @window
// CHECK-NOT:     aten.slice
// CHECK:         aten.as_strided.default(%x, size = [2, 3], stride = [2, 1], storage_offset = 1)
func.func @window(%x : !aten.t<f32[4, 2]>) -> !aten.t<f32[2, 3]:[2, 1]> {
  %e = aten.slice.Tensor(%x, dim = 0, start = 1, end = 1) : !aten.t<f32[0, 2]>
  %w = aten.as_strided.default(%e, size = [2, 3], stride = [2, 1], storage_offset = 1) : !aten.t<f32[2, 3]:[2, 1]>
  return %w : !aten.t<f32[2, 3]:[2, 1]>
}

// -----

/// Without an offset it starts where the view starts.
// CHECK-LABEL: func.func @window_of_the_view
// CHECK:         %e = aten.slice.Tensor
// CHECK:         aten.as_strided.default(%e
func.func @window_of_the_view(%x : !aten.t<f32[4, 2]>) -> !aten.t<f32[2, 2]:[1, 1]> {
  %e = aten.slice.Tensor(%x, dim = 0, start = 1, end = 3) : !aten.t<f32[2, 2]>
  %w = aten.as_strided.default(%e, size = [2, 2], stride = [1, 1]) : !aten.t<f32[2, 2]:[1, 1]>
  return %w : !aten.t<f32[2, 2]:[1, 1]>
}

// -----

/// A window that counts from the storage tells a copy from its operand.
// CHECK-LABEL: func.func @window_of_a_copy
// CHECK:         %c = aten.clone.default
// CHECK:         aten.as_strided.default(%c
// CHECK:       // remark: [aten-views] refused clone.default %c: its storage is read as such
func.func @window_of_a_copy(%x : !aten.t<f32[4, 2]>) -> !aten.t<f32[2, 2]:[1, 1]> {
  %e = aten.slice.Tensor(%x, dim = 0, start = 1, end = 3) : !aten.t<f32[2, 2]>
  %c = aten.clone.default(%e) : !aten.t<f32[2, 2]>
  %w = aten.as_strided.default(%c, size = [2, 2], stride = [1, 1], storage_offset = 1) : !aten.t<f32[2, 2]:[1, 1]>
  return %w : !aten.t<f32[2, 2]:[1, 1]>
}
