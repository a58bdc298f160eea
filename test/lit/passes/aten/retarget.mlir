// RUN: mini-opt %s -p 'retarget{device=cuda}' --split-input-file | filecheck %s
// RUN: not mini-opt %S/Inputs/cpu-only.mlir -p retarget 2>&1 | filecheck %s --check-prefix=REFUSED

/// Types, device arguments and the function's type move together.
// CHECK-LABEL: func.func @f(%x: !aten.t<f32[8]@cuda>) -> !aten.t<f32[8]@cuda>
// CHECK:         aten.relu.default(%x) : !aten.t<f32[8]@cuda>
func.func @f(%x: !aten.t<f32[8]>) -> !aten.t<f32[8]> {
  %y = aten.relu.default(%x) : !aten.t<f32[8]>
  func.return %y : !aten.t<f32[8]> }

// -----

/// What is there already is left alone.
// CHECK-LABEL: func.func @g(%x: !aten.t<f32[8]@"cuda:1">)
func.func @g(%x: !aten.t<f32[8]@"cuda:1">) -> !aten.t<f32[8]@"cuda:1"> {
  func.return %x : !aten.t<f32[8]@"cuda:1"> }

/// Negative twin: an op that only the CPU has.
// REFUSED: exists on the CPU only; capture the graph on cuda
