// RUN: mini-opt %s -p aten-to-loop --split-input-file --print-remarks | filecheck %s

/// Of nearest reads each point makes one; what lies outside counts 0 and is not read.
func.func @nearest(%x: !aten.t<f32[1, 2, 5, 6]>, %g: !aten.t<f32[1, 3, 4, 2]>) -> !aten.t<f32[1, 2, 3, 4]> {
  %r = aten.grid_sampler_2d.default(%x, %g, 1, 0, true) : !aten.t<f32[1, 2, 3, 4]>
  func.return %r : !aten.t<f32[1, 2, 3, 4]>
}

// CHECK-LABEL: func.func @nearest
// CHECK-NEXT:    %buf0 = loop.nest (d0: 2, d1: 3, d2: 4) -> (%o : !aten.t<f32[1, 2, 3, 4]>) origins ["grid_sampler_2d"] {
// CHECK-NEXT:      %0 = loop.load %g[0, d1, d2, 1] : f32
// CHECK:           scalar.round
// CHECK:           loop.load %g[0, d1, d2, 0] : f32
// CHECK:           [[Y:%.*]] = scalar.bound {{%.*}} to 5
// CHECK:           [[X:%.*]] = scalar.bound {{%.*}} to 6
// CHECK:           [[V:%.*]] = loop.load %x[0, d0, [[Y]], [[X]]] : f32
// CHECK:           scalar.select {{%.*}}, [[V]]

// -----

/// The gradient of the grid is a sum over the channels.
func.func @gradient(%d: !aten.t<f32[1, 2, 3, 4]>, %x: !aten.t<f32[1, 2, 5, 6]>, %g: !aten.t<f32[1, 3, 4, 2]>) -> !aten.t<f32[1, 3, 4, 2]> {
  %a, %b = aten.grid_sampler_2d_backward.default(%d, %x, %g, 0, 0, true, [false, true]) : !aten.absent, !aten.t<f32[1, 3, 4, 2]>
  func.return %b : !aten.t<f32[1, 3, 4, 2]>
}

// CHECK-LABEL: func.func @gradient
// CHECK-NEXT:    %buf0 = loop.nest (d0: 3, d1: 4, d2: 2) reduce (d3: 2) -> (%o : !aten.t<f32[1, 3, 4, 2]>) origins ["grid_sampler_2d_backward"] {
// CHECK:           loop.load %d[0, d3, d0, d1] : f32
// CHECK:           loop.reduce add
// CHECK:           loop.store {{%.*}}, %o[0, d0, d1, d2]

// -----

/// The negative twin: the gradient of the input is a scatter, and stays a call.
func.func @refused(%d: !aten.t<f32[1, 2, 3, 4]>, %x: !aten.t<f32[1, 2, 5, 6]>, %g: !aten.t<f32[1, 3, 4, 2]>) -> (!aten.t<f32[1, 2, 5, 6]>, !aten.t<f32[1, 3, 4, 2]>) {
  %a, %b = aten.grid_sampler_2d_backward.default(%d, %x, %g, 0, 0, true, [true, true]) : !aten.t<f32[1, 2, 5, 6]>, !aten.t<f32[1, 3, 4, 2]>
  func.return %a, %b : !aten.t<f32[1, 2, 5, 6]>, !aten.t<f32[1, 3, 4, 2]>
}

// CHECK-LABEL: func.func @refused
// CHECK:           loop.extern "aten.grid_sampler_2d_backward.default"
// CHECK:       // remark: [aten-to-loop] note grid_sampler_2d_backward.default: extern: the gradient of the input is a scatter
