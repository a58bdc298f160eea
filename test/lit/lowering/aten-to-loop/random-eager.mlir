// RUN: mini-opt %s -p aten-to-loop{random=eager} --split-input-file | filecheck %s

/// With random=eager every random op is a call: eager's very values.

func.func @rand(%x: !aten.t<f32[4, 8]>) -> (!aten.t<f32[4, 8]>) {
  %r = aten.rand_like.default(%x) : !aten.t<f32[4, 8]>
  func.return %r : !aten.t<f32[4, 8]>
}

// CHECK-LABEL: func.func @rand
// CHECK-NEXT:    %buf0 = loop.extern "aten.rand_like.default"(%x) args [#loop.arg<0>] {random, ordered, origins = #loop.origins<["rand_like"]>} : (!aten.t<f32[4, 8]>) -> !aten.t<f32[4, 8]>
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[4, 8]>

// -----

/// A state that is saved stands before the call that draws on from it; the function that is given the
/// state draws the same numbers again.

func.func @save(%x: !aten.t<f32[4]>) -> (!aten.t<f32[4]>, !aten.t<i64[632]>) {
  %s = aten.seed : !aten.t<i64[632]>
  %r = aten.rand_like.default(%x, rng_seed = %s) : !aten.t<f32[4]>
  func.return %r, %s : !aten.t<f32[4]>, !aten.t<i64[632]>
}
func.func @again(%x: !aten.t<f32[4]>, %s: !aten.t<i64[632]>) -> !aten.t<f32[4]> {
  %r = aten.rand_like.default(%x, rng_seed = %s) : !aten.t<f32[4]>
  func.return %r : !aten.t<f32[4]>
}

// CHECK-LABEL: func.func @save
// CHECK-NEXT:    %seed = loop.extern "minductor.state"() args [] kwargs {device = #aten.device<"cpu">} {random, ordered}
// CHECK-NEXT:    loop.extern "aten.rand_like.default"(%x
// CHECK-LABEL: func.func @again
// CHECK-NEXT:    loop.extern "minductor.seeded"(%x, %s) args ["aten.rand_like.default", #loop.arg<1>, [#loop.arg<0>]] {random, ordered
