func.func @inference(%arg0_1: !aten.t<f32[1024]>, %arg1_1: !aten.t<f32[1024]>) -> !aten.t<f32[1024]> {
  %add = aten.add.Tensor(%arg0_1, %arg1_1) : !aten.t<f32[1024]>
  %relu = aten.relu.default(%add) : !aten.t<f32[1024]>
  %0 = aten.scalar 2
  %mul = aten.mul.Tensor(%relu, %0) : !aten.t<f32[1024]>
  func.return %mul : !aten.t<f32[1024]>
}
