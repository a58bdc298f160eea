// RUN: mini-opt %s -p kernel-overlap --split-input-file | filecheck %s
// RUN: mini-opt %s -p 'kernel-overlap{overlap=false}' --split-input-file | filecheck %s --check-prefix=OFF
// RUN: mini-opt %s -p kernel-overlap --split-input-file -t cpp | filecheck %s --check-prefix=CPP
// RUN: mini-opt %s -p kernel-overlap --split-input-file --print-remarks | filecheck %s --check-prefix=WHY

/// Rows of 27 elements: a vector from 0 and one from 11. Halves of the variable keep their place in
/// the vector where an even number of elements is left over.
// OFF-NOT:     overlap
// CHECK-LABEL: kernel.func @rows
// CHECK:         kernel.parallel d1 : 27 <lanes 16, tail overlap>
// CHECK:         kernel.parallel d2 : 54 <lanes 16, unroll 2, tail overlap>
// CPP:           lane_loop<16, 1, 4>(0, 27, [&]
kernel.func @rows(read %x : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[512]>, write %p : !kernel.buf<f32[512]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    parallel d1 : 27 <lanes 16, tail mask> { %v = load %x[60 * d0 + 2 * d1] {pick} : f32  store %v, %o[27 * d0 + d1] }
    parallel d2 : 54 <lanes 16, unroll 2, tail mask> { %v = load %x[60 * d0 + (d2 floordiv 2)] {pick} : f32  store %v, %p[54 * d0 + d2] } } }

// -----

/// Negative twins: it reads what it writes, its stores combine, an odd number of elements is left over a
/// step of two, threads share it, the row is shorter than a vector, a reduction would count twice.
// CHECK-LABEL: kernel.func @twins
// CHECK-NOT:     overlap
// WHY: [kernel-overlap] refused twins: it reads what it writes
// WHY: [kernel-overlap] refused twins: its stores combine
// WHY: [kernel-overlap] refused twins: its indices repeat in another step
// WHY: [kernel-overlap] refused twins: threads would write each other's elements
// WHY: [kernel-overlap] refused twins: it is not known to fill a vector
kernel.func @twins(read %x : !kernel.buf<f32[512]>, update %o : !kernel.buf<f32[512]>, write %p : !kernel.buf<f32[512]>, write %q : !kernel.buf<f32[1]>) [] config {target = "cpp"} {
  parallel d0 : 27 <lanes 16, tail mask> { %v = load %o[d0] : f32  %w = scalar.mul %v, %v : f32  store %w, %o[d0] }
  parallel d1 : 27 <lanes 16, tail mask> { %v = load %x[d1] : f32  store add %v, %o[d1] }
  parallel d2 : 27 <lanes 16, tail mask> { %v = load %x[d2 floordiv 2] {pick} : f32  store %v, %p[d2] }
  parallel d3 : 100 <run threads, lanes 16, tail mask> { %v = load %x[d3] : f32  store %v, %p[d3] }
  parallel d4 : 12 <lanes 16, tail mask> { %v = load %x[d4] : f32  store %v, %p[d4] }
  %s = reduce d5 : 27 <lanes 16, tail mask> [add] -> f32 { %v = load %x[d5] : f32  yield %v : f32 }
  store %s, %q[0] }
