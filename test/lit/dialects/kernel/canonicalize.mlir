// RUN: mini-opt %s -p canonicalize | filecheck %s

/// A loop of one iteration is its body, one of none is nothing; the rest stays.
// CHECK-LABEL: kernel.func @short
// CHECK-NEXT:    kernel.parallel d1 : 8 {
// CHECK-NEXT:      %v = kernel.load %x[d1] : f32
// CHECK-NEXT:      kernel.store %v, %o[d1]
// CHECK-NEXT:    }
// CHECK-NEXT:  }
kernel.func @short(read %x : !kernel.buf<f32[8]>, write %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  parallel d0 : 1 { parallel d1 : 8 { %v = load %x[8 * d0 + d1] : f32  store %v, %o[8 * d0 + d1] } }
  for d0 : 0 { %v = load %x[d0] : f32  store %v, %o[d0] } }
