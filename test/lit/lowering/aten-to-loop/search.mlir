// RUN: mini-opt %s -p aten-to-loop --split-input-file --print-remarks | filecheck %s

/// Among one edge a search is one step.
func.func @bucketize(%x: !aten.t<f32[8]>, %e: !aten.t<f32[1]>) -> !aten.t<i64[8]> {
  %r = aten.bucketize.Tensor(%x, %e) : !aten.t<i64[8]>
  func.return %r : !aten.t<i64[8]>
}

// CHECK-LABEL: func.func @bucketize
// CHECK:           scalar.shr
// CHECK:           [[AT:%.*]] = scalar.bound {{%.*}} to 1
// CHECK-NEXT:      [[EDGE:%.*]] = loop.load %e{{.*}} : f32
// CHECK-NEXT:      scalar.ge [[EDGE]], %0 : f32
// CHECK:           loop.store

// -----

/// Three edges take two steps, in each row its own.
func.func @rows(%x: !aten.t<i64[4, 8]>, %e: !aten.t<i64[4, 3]>) -> !aten.t<i32[4, 8]> {
  %r = aten.searchsorted.Tensor(%e, %x, out_int32 = true, right = true) : !aten.t<i32[4, 8]>
  func.return %r : !aten.t<i32[4, 8]>
}

// CHECK-LABEL: func.func @rows
// CHECK:           [[AT:%.*]] = scalar.bound {{%.*}} to 3
// CHECK-NEXT:      [[EDGE:%.*]] = loop.load %e[d0, [[AT]]] : i64
// CHECK-NEXT:      scalar.gt [[EDGE]], %0 : i64
// CHECK:           [[AT:%.*]] = scalar.bound {{%.*}} to 3
// CHECK-NEXT:      loop.load %e[d0, [[AT]]] : i64
// CHECK-NOT:       scalar.bound
// CHECK:           [[OUT:%.*]] = scalar.cast {{%.*}} : i64 to i32
// CHECK-NEXT:      loop.store [[OUT]], %o[d0, d1]

// -----

/// The negative twin: how many steps, the size of the edges says, which is not known.
func.func @refused(%x: !aten.t<f32[8]>, %e: !aten.t<f32[s0]>) -> !aten.t<i64[8]> attributes {symbols = #aten.symbols<s0 = [hint 64, min 2]>} {
  %r = aten.bucketize.Tensor(%x, %e) : !aten.t<i64[8]>
  func.return %r : !aten.t<i64[8]>
}

// CHECK-LABEL: func.func @refused
// CHECK:           loop.extern "aten.bucketize.Tensor"
// CHECK:       // remark: [aten-to-loop] note bucketize.Tensor: extern: a search among s0 elements: how many steps is data
