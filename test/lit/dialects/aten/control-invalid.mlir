// RUN: %invalid

/// A function that the module lacks.

// CHECK: no function @no in this module
func.func @f(%p: !aten.t<bool[]>) {
  aten.control "minductor.cond"(%p) args [#loop.arg<0>, @f, @no, []] : (!aten.t<bool[]>) -> ()
  func.return
}

// -----

/// The number of functions follows from the callee.

// CHECK: 1 functions; `minductor.while_loop` takes 2
func.func @f(%p: !aten.t<bool[]>) {
  aten.control "minductor.while_loop"(%p) args [@f, [#loop.arg<0>], []] : (!aten.t<bool[]>) -> ()
  func.return
}

// -----

/// Only the calls of the table are control flow.

// CHECK: unknown control flow `minductor.loop`; one of minductor.cond
func.func @f(%p: !aten.t<bool[]>) {
  aten.control "minductor.loop"(%p) args [#loop.arg<0>] : (!aten.t<bool[]>) -> ()
  func.return
}
