// Four readers of one tensor, for docs/fusion.md: a sum of rows and its relu, a maximum, an exponential.
func.func @f(%x: !aten.t<f32[512, 512]>, %b: !aten.t<f32[512]>) -> (!aten.t<f32[512]>, !aten.t<f32[512]>, !aten.t<f32[512, 512]>) {
  %s = aten.sum.dim_IntList(%x, dim = [1]) {origin = "sum model.py:4"} : !aten.t<f32[512]>
  %r = aten.relu.default(%s) {origin = "relu model.py:5"} : !aten.t<f32[512]>
  %m = aten.amax.default(%x, dim = [1]) {origin = "amax model.py:6"} : !aten.t<f32[512]>
  %y = aten.exp.default(%x) {origin = "exp model.py:7"} : !aten.t<f32[512, 512]>
  func.return %r, %m, %y : !aten.t<f32[512]>, !aten.t<f32[512]>, !aten.t<f32[512, 512]>
}
