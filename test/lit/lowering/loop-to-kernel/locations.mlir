// RUN: mini-opt %s -p loop-to-kernel --print-debuginfo | filecheck %s

/// Locations of loads, scalar ops and stores reach the kernel, those of groups the launch.
// CHECK: kernel.load %x[d0] : f32 loc("load")
// CHECK: scalar.sin {{.*}} loc("sin"("m.py":3:1))
// CHECK: kernel.launch {{.*}} loc("group")
func.func @f(%x: !aten.t<f32[8]>) -> !aten.t<f32[8]> {
  %g = loop.group "sin" -> !aten.t<f32[8]> {
    %a = nest (d0: 8) -> (%o : !aten.t<f32[8]>) {
      %v = load %x[d0] : f32 loc("load")
      %s = scalar.sin %v : f32 loc("sin"("m.py":3:1))
      store %s, %o[d0] } 
    yield %a } loc("group")
  func.return %g : !aten.t<f32[8]> }
