// RUN: mini-opt %s -p aten-peak | filecheck %s

/// Two tensors of 4096 bytes live at once; views cost nothing.
// CHECK-LABEL: func.func @chain
// CHECK-SAME:    eager_peak = 8192 : i64
func.func @chain(%x: !aten.t<f32[1024]>) -> !aten.t<f32[1024]> {
  %a = aten.sin.default(%x) : !aten.t<f32[1024]>
  %v = aten.view.default(%a, size = [32, 32]) : !aten.t<f32[32, 32]>
  %w = aten.view.default(%v, size = [1024]) : !aten.t<f32[1024]>
  %b = aten.cos.default(%w) : !aten.t<f32[1024]>
  %c = aten.sin.default(%b) : !aten.t<f32[1024]>
  func.return %c : !aten.t<f32[1024]>
}

/// An argument that nobody holds makes room at its last use; its twin is held.
// CHECK-LABEL: func.func @saved
// CHECK-SAME:    eager_peak = 4096 : i64
func.func @saved(%x: !aten.t<f32[1024]>) -> !aten.t<f32[1024]> attributes {dying = array<i64: 0>} {
  %a = aten.sin.default(%x) : !aten.t<f32[1024]>
  %b = aten.cos.default(%a) : !aten.t<f32[1024]>
  func.return %b : !aten.t<f32[1024]>
}
// CHECK-LABEL: func.func @held
// CHECK-SAME:    eager_peak = 8192 : i64
func.func @held(%x: !aten.t<f32[1024]>) -> !aten.t<f32[1024]> {
  %a = aten.sin.default(%x) : !aten.t<f32[1024]>
  %b = aten.cos.default(%a) : !aten.t<f32[1024]>
  func.return %b : !aten.t<f32[1024]>
}

/// Two of one storage: it is free when the last of them is done; its twin's are two.
// CHECK-LABEL: func.func @shared
// CHECK-SAME:    eager_peak = 8192 : i64
func.func @shared(%x: !aten.t<f32[1024]>, %y: !aten.t<f32[1024]>) -> !aten.t<f32[1024]> attributes {dying = array<i64: 0, 1>, sharing = array<i64: 0, 0>} {
  %a = aten.sin.default(%x) : !aten.t<f32[1024]>
  %b = aten.cos.default(%a) : !aten.t<f32[1024]>
  %c = aten.add.Tensor(%b, %y) : !aten.t<f32[1024]>
  func.return %c : !aten.t<f32[1024]>
}
// CHECK-LABEL: func.func @apart
// CHECK-SAME:    eager_peak = 4096 : i64
func.func @apart(%x: !aten.t<f32[1024]>, %y: !aten.t<f32[1024]>) -> !aten.t<f32[1024]> attributes {dying = array<i64: 0, 1>} {
  %a = aten.sin.default(%x) : !aten.t<f32[1024]>
  %b = aten.cos.default(%a) : !aten.t<f32[1024]>
  %c = aten.add.Tensor(%b, %y) : !aten.t<f32[1024]>
  func.return %c : !aten.t<f32[1024]>
}

/// What an argument becomes could have been computed in it.
// CHECK-LABEL: func.func @mutated
// CHECK-SAME:    eager_peak = 0 : i64
func.func @mutated(%x: !aten.t<f32[1024]>) {
  %a = aten.sin.default(%x) : !aten.t<f32[1024]>
  %c = aten.copy_.default(%x, %a) : !aten.t<f32[1024]>
  func.return
}
