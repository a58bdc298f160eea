// y = sin(x); relu(y + y.sum()), for docs/fusion.md: every element waits for the whole sum. The
// matrix of @large fits no cache between the two passes; one worker does all of @small.
func.func @large(%x: !aten.t<f32[1024, 1024]>) -> !aten.t<f32[1024, 1024]> {
  %y = aten.sin.default(%x) {origin = "sin model.py:3"} : !aten.t<f32[1024, 1024]>
  %s = aten.sum.default(%y) {origin = "sum model.py:4"} : !aten.t<f32[]>
  %z = aten.add.Tensor(%y, %s) {origin = "add model.py:4"} : !aten.t<f32[1024, 1024]>
  %r = aten.relu.default(%z) {origin = "relu model.py:4"} : !aten.t<f32[1024, 1024]>
  func.return %r : !aten.t<f32[1024, 1024]>
}
func.func @small(%x: !aten.t<f32[128, 128]>) -> !aten.t<f32[128, 128]> {
  %y = aten.sin.default(%x) {origin = "sin model.py:3"} : !aten.t<f32[128, 128]>
  %s = aten.sum.default(%y) {origin = "sum model.py:4"} : !aten.t<f32[]>
  %z = aten.add.Tensor(%y, %s) {origin = "add model.py:4"} : !aten.t<f32[128, 128]>
  %r = aten.relu.default(%z) {origin = "relu model.py:4"} : !aten.t<f32[128, 128]>
  func.return %r : !aten.t<f32[128, 128]>
}
