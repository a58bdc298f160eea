func.func @inference(%arg0: !aten.t<f32[64, 1000]>) -> !aten.t<f32[64, 1000]> {
  %amax = aten.amax.default(%arg0, dim = [-1], keepdim = true) {origin = "_softmax model.py:12"} : !aten.t<f32[64, 1]>
  %sub = aten.sub.Tensor(%arg0, %amax) {origin = "_softmax model.py:12"} : !aten.t<f32[64, 1000]>
  %exp = aten.exp.default(%sub) {origin = "_softmax model.py:12"} : !aten.t<f32[64, 1000]>
  %sum = aten.sum.dim_IntList(%exp, dim = [-1], keepdim = true) {origin = "_softmax model.py:12"} : !aten.t<f32[64, 1]>
  %div = aten.div.Tensor(%exp, %sum) {origin = "_softmax model.py:12"} : !aten.t<f32[64, 1000]>
  func.return %div : !aten.t<f32[64, 1000]>
}
