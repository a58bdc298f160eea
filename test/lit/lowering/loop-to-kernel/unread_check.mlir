// RUN: mini-opt %s -p loop-fuse,loop-to-kernel --split-input-file | filecheck %s

/// A checked index that nothing is addressed with still reports: where the result is stored if it
/// varies with that alone, inside the loop that gathers if it varies there. One that is used is
/// there once.

// CHECK-LABEL: kernel.func
// CHECK:         kernel.parallel d0 : 3
// CHECK:           %[[I:.+]] = kernel.load %{{.*}}[d0] : i64
// CHECK-NEXT:      scalar.bound %[[I]] to 1 wrap
// CHECK:           kernel.store
func.func @alone(%x: !aten.t<f32[1]>, %i: !aten.t<i64[3]>) -> !aten.t<f32[3]> {
  %buf = loop.nest (d0: 3) -> (%o : !aten.t<f32[3]>) {
    %0 = loop.load %i[d0] : i64
    %1 = scalar.bound %0 to 1 wrap
    %2 = loop.load %x[0] : f32
    loop.store %2, %o[d0]
  }
  func.return %buf : !aten.t<f32[3]>
}

// -----

// CHECK-LABEL: kernel.func
// CHECK:         kernel.reduce
// CHECK:           scalar.bound %{{.*}} to 1 wrap
// CHECK:           kernel.yield
// CHECK-NOT:       scalar.bound
func.func @gathered(%x: !aten.t<f32[1]>, %i: !aten.t<i64[3, 8]>) -> !aten.t<f32[3]> {
  %buf = loop.nest (d0: 3) reduce (d1: 8) -> (%o : !aten.t<f32[3]>) {
    %0 = loop.load %i[d0, d1] : i64
    %1 = scalar.bound %0 to 1 wrap
    %2 = loop.load %x[0] : f32
    %3 = loop.reduce add %2 : f32 -> f32
    loop.store %3, %o[d0]
  }
  func.return %buf : !aten.t<f32[3]>
}

// -----

// CHECK-LABEL: kernel.func
// CHECK:         %[[B:.+]] = scalar.bound
// CHECK-NOT:     scalar.bound
// CHECK:         kernel.load %{{.*}}[%[[B]]]
func.func @used(%x: !aten.t<f32[4]>, %i: !aten.t<i64[3]>) -> !aten.t<f32[3]> {
  %buf = loop.nest (d0: 3) -> (%o : !aten.t<f32[3]>) {
    %0 = loop.load %i[d0] : i64
    %1 = scalar.bound %0 to 4 wrap
    %2 = loop.load %x[%1] : f32
    loop.store %2, %o[d0]
  }
  func.return %buf : !aten.t<f32[3]>
}
