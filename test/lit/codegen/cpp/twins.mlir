// RUN: mini-opt %s -t cpp | filecheck %s

/// Kernels that differ in names and provenance only share one body; each keeps its entry point and
/// its own comment. A kernel with another constant is no twin,
/// and -0.0 is another constant than 0.0.

// CHECK:      // first
// CHECK:      static int first_body(const f32 *__restrict x, f32 *__restrict o)
// CHECK:      extern "C" int first(
// CHECK:      // second
// CHECK-NEXT: //   add other.py:7
// CHECK-NEXT: extern "C" int second(
// CHECK-NEXT:   (void)sizes;
// CHECK-NEXT:   return first_body((const f32 *)ptrs[0], (f32 *)ptrs[1]);
// CHECK:      static int third_body(
// CHECK:        return third_body(
kernel.func @first(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} origins ["add model.py:3"] {
  kernel.parallel d0 : 64 {
    %a = kernel.load %x[d0] : f32
    %one = scalar.constant 0.0 : f32
    %s = scalar.add %a, %one : f32
    kernel.store %s, %o[d0]
  }
}
kernel.func @second(read %y : !kernel.buf<f32[64]>, write %p : !kernel.buf<f32[64]>) [] config {target = "cpp"} origins ["add other.py:7"] {
  kernel.parallel d0 : 64 {
    %b = kernel.load %y[d0] : f32
    %c = scalar.constant 0.0 : f32
    %t = scalar.add %b, %c : f32
    kernel.store %t, %p[d0]
  }
}
kernel.func @third(read %y : !kernel.buf<f32[64]>, write %p : !kernel.buf<f32[64]>) [] config {target = "cpp"} origins ["add other.py:7"] {
  kernel.parallel d0 : 64 {
    %b = kernel.load %y[d0] : f32
    %c = scalar.constant -0.0 : f32
    %t = scalar.add %b, %c : f32
    kernel.store %t, %p[d0]
  }
}
