// RUN: mini-opt %s -p kernel-extern-out --split-input-file --print-remarks | filecheck %s

/// A call that torch has an `out=` kernel for is given its results' memory, all of them, in the
/// strides that their types say.

// CHECK:      %m = kernel.alloc : !aten.t<f32[4, 4]:[1, 4]>
// CHECK-NEXT: kernel.extern "aten.addmm.default"(%b, %x, %m) args [#loop.arg<0>, #loop.arg<1>, #loop.arg<1>] kwargs {beta = 2 : i64} {out} : (!aten.t<f32[4]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]:[1, 4]>) -> ()
// CHECK-NEXT: %v = kernel.alloc : !aten.t<f32[2, 4]>
// CHECK-NEXT: %i = kernel.alloc : !aten.t<i64[2, 4]>
// CHECK-NEXT: kernel.extern "aten.topk.default"(%m, %v, %i) args [#loop.arg<0>, 2 : i64, 0 : i64] {out}
// CHECK-NEXT: func.return %v, %i
func.func @call(%x: !aten.t<f32[4, 4]>, %b: !aten.t<f32[4]>) -> (!aten.t<f32[2, 4]>, !aten.t<i64[2, 4]>) {
  %m = kernel.extern "aten.addmm.default"(%b, %x) args [#loop.arg<0>, #loop.arg<1>, #loop.arg<1>] kwargs {beta = 2 : i64} : (!aten.t<f32[4]>, !aten.t<f32[4, 4]>) -> !aten.t<f32[4, 4]:[1, 4]>
  %v, %i = kernel.extern "aten.topk.default"(%m) args [#loop.arg<0>, 2 : i64, 0 : i64] : (!aten.t<f32[4, 4]:[1, 4]>) -> (!aten.t<f32[2, 4]>, !aten.t<i64[2, 4]>)
  func.return %v, %i : !aten.t<f32[2, 4]>, !aten.t<i64[2, 4]>
}

// -----

/// Left alone, each with its reason: no such kernel, an alias, a size that the call decides.

// CHECK-NOT: {out}
// CHECK: remark: [kernel-extern-out] refused aten.convolution.default: torch has no kernel that writes its results into given memory
// CHECK: remark: [kernel-extern-out] refused aten.nonzero.default: torch has no kernel
// CHECK: remark: [kernel-extern-out] refused aten.expand.default: it mutates or aliases an operand, or has sub-graphs
// CHECK: remark: [kernel-extern-out] refused custom.op.default: torch has no kernel
func.func @call(%x: !aten.t<f32[1, 1, 4, 4]>) attributes {symbols = #aten.symbols<u0 = [min 0]>} {
  %c = kernel.extern "aten.convolution.default"(%x) args [#loop.arg<0>, #loop.arg<0>, #aten.none, #loop.index<[1, 1]>, #loop.index<[0, 0]>, #loop.index<[1, 1]>, false, #loop.index<[0, 0]>, 1 : i64] : (!aten.t<f32[1, 1, 4, 4]>) -> !aten.t<f32[1, 1, 1, 1]>
  %n = kernel.extern "aten.nonzero.default"(%x) args [#loop.arg<0>] : (!aten.t<f32[1, 1, 4, 4]>) -> !aten.t<i64[u0, 4]>
  %e = kernel.extern "aten.expand.default"(%x) args [#loop.arg<0>, #loop.index<[2, 1, 4, 4]>] {aliases = [#loop.index<[0, 0]>]} : (!aten.t<f32[1, 1, 4, 4]>) -> !aten.t<f32[2, 1, 4, 4]:[0, 16, 4, 1]>
  %o = kernel.extern "custom.op.default"(%x) args [#loop.arg<0>] : (!aten.t<f32[1, 1, 4, 4]>) -> !aten.t<f32[4]>
  func.return
}
