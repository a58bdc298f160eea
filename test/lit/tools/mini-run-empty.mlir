/// A store under a loop without iterations does not happen, though it does not vary with the loop.
// RUN: mini-run %s | filecheck %s

builtin.module {
  kernel.func @k(write %o : !kernel.buf<f32[0]>) [] config {target = "cpp"} {
    kernel.parallel d0 : 7 {
      kernel.parallel d1 : 0 {
        %0 = scalar.constant 1.0 : f32
        kernel.store %0, %o[130 * d0]
      }
    }
  }
  func.func @call() -> !aten.t<f32[7, 0]> {
    %o = kernel.alloc : !aten.t<f32[7, 0]>
    kernel.launch @k(%o)[]
    func.return %o : !aten.t<f32[7, 0]>
  }
}
// CHECK: out_0: float32[7, 0] strides
