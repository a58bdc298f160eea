// RUN: mini-opt %s --split-input-file -p loop-simplify-index --print-remarks | filecheck %s

/// A variable of extent one goes, a load through a view goes to its base, and ranges decide the test.

// CHECK-LABEL: @view
// CHECK:       loop.nest (d0: 28) -> (%o : !aten.t<f32[1, 28]>) {
// CHECK-NEXT:    loop.load %x[(d0 floordiv 4) + 1, (d0 mod 4)] : f32
// CHECK:         scalar.constant 1 : i1
// CHECK:         loop.store %{{.*}}, %o[0, d0]
func.func @view(%x: !aten.t<f32[8, 4]>) -> !aten.t<f32[1, 28]> {
  %v = loop.view %x offset 4 : !aten.t<f32[8, 4]> to !aten.t<f32[7, 4]>
  %a = loop.nest (d0: 1, d1: 28) -> (%o : !aten.t<f32[1, 28]>) {
    %e = loop.load %v[d1 floordiv 4, d1 mod 4] : f32
    %c = scalar.within d1 in 0 to 28
    %z = scalar.constant 0.0 : f32
    %s = scalar.select %c, %e, %z : f32
    loop.store %s, %o[d0, d1]
  }
  func.return %a : !aten.t<f32[1, 28]>
}

// -----

/// The region that holds takes the place of its `if`; where a test fails, the range is smaller.

// CHECK-LABEL: @branch
// CHECK:       loop.load %x[d0] : f32
// CHECK-NEXT:  scalar.within d0 in 4 to 8
// CHECK-NEXT:  scalar.if
// CHECK-NEXT:    loop.load %x[d0 - 4] : f32
// CHECK:       } else {
// CHECK-NEXT:    loop.load %x[d0] : f32
func.func @branch(%x: !aten.t<f32[8]>) -> !aten.t<f32[8]> {
  %a = loop.nest (d0: 8) -> (%o : !aten.t<f32[8]>) {
    %all = scalar.within d0 in 0 to 9
    %e = scalar.if %all -> f32 {
      %v = loop.load %x[d0] : f32
      scalar.yield %v : f32
    } else {
      %v = scalar.constant 0.0 : f32
      scalar.yield %v : f32
    }
    %some = scalar.within d0 in 4 to 8
    %f = scalar.if %some -> f32 {
      %v = loop.load %x[(d0 - 4) mod 4] : f32
      scalar.yield %v : f32
    } else {
      %v = loop.load %x[d0 mod 4] : f32
      scalar.yield %v : f32
    }
    %s = scalar.add %e, %f : f32
    loop.store %s, %o[d0]
  }
  func.return %a : !aten.t<f32[8]>
}

// -----

/// Negative twin: a view of another element type keeps its loads; the test is not decided.

// CHECK-LABEL: @kept
// CHECK:       loop.load %v[d0] : i32
// CHECK:       scalar.within d0 in 1 to 4
// CHECK:       // remark: [loop-simplify-index] refused v: the view has another element type
func.func @kept(%x: !aten.t<f32[4]>) -> !aten.t<i32[4]> {
  %v = loop.view %x offset 0 : !aten.t<f32[4]> to !aten.t<i32[4]>
  %a = loop.nest (d0: 4) -> (%o : !aten.t<i32[4]>) {
    %e = loop.load %v[d0] : i32
    %c = scalar.within d0 in 1 to 4
    %z = scalar.constant 0 : i32
    %s = scalar.select %c, %e, %z : i32
    loop.store %s, %o[d0]
  }
  func.return %a : !aten.t<i32[4]>
}
