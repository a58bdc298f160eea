// RUN: mini-opt %s -p aten-to-loop{random=eager} --split-input-file | filecheck %s

/// With random=eager every random op is a call: eager's very values.

func.func @rand(%x: !aten.t<f32[4, 8]>) -> (!aten.t<f32[4, 8]>) {
  %r = aten.rand_like.default(%x) : !aten.t<f32[4, 8]>
  func.return %r : !aten.t<f32[4, 8]>
}

// CHECK-LABEL: func.func @rand
// CHECK-NEXT:    %buf0 = loop.extern "aten.rand_like.default"(%x) args [#loop.arg<0>] {random, ordered, origins = #loop.origins<["rand_like"]>} : (!aten.t<f32[4, 8]>) -> !aten.t<f32[4, 8]>
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[4, 8]>
