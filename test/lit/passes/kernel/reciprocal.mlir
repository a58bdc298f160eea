// RUN: mini-opt %s -p kernel-reciprocal --print-remarks | filecheck %s
// RUN: mini-opt %s -p 'kernel-reciprocal{reciprocal=false}' | filecheck %s --check-prefix=OFF

/// A number's reciprocal, rounded to f32.
// CHECK-LABEL: kernel.func @thirds
// CHECK:         %[[R:.*]] = scalar.constant 0.33333334 : f32
// CHECK-NEXT:    scalar.mul %v, %[[R]] : f32
// CHECK-NOT:     scalar.div
// OFF-LABEL:   kernel.func @thirds
// OFF:           scalar.div
kernel.func @thirds(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton"} {
  parallel d0 : 64 { %v = load %x[d0] : f32  %c = scalar.constant 3.0 : f32  %q = scalar.div %v, %c : f32  store %q, %o[d0] } }

/// The reciprocal of the first is no normal number, that of 0 is infinite; what is not known stays;
/// a processor divides.
// CHECK-LABEL: kernel.func @huge
// CHECK:         scalar.div
// CHECK-LABEL: kernel.func @zero
// CHECK:         scalar.div
// CHECK-LABEL: kernel.func @unknown
// CHECK:         scalar.div
// CHECK-LABEL: kernel.func @cpu
// CHECK:         scalar.div
// CHECK-DAG:   // remark: [kernel-reciprocal] refused huge: {{.*}}e+38 or its reciprocal is not a normal number
// CHECK-DAG:   // remark: [kernel-reciprocal] refused zero: 0.0 or its reciprocal is not a normal number
kernel.func @huge(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton"} {
  parallel d0 : 64 { %v = load %x[d0] : f32  %c = scalar.constant 3.0e+38 : f32  %q = scalar.div %v, %c : f32  store %q, %o[d0] } }
kernel.func @zero(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton"} {
  parallel d0 : 64 { %v = load %x[d0] : f32  %c = scalar.constant 0.0 : f32  %q = scalar.div %v, %c : f32  store %q, %o[d0] } }
kernel.func @unknown(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton"} {
  parallel d0 : 64 { %v = load %x[d0] : f32  %c = load %x[0] : f32  %q = scalar.div %v, %c : f32  store %q, %o[d0] } }
kernel.func @cpu(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 { %v = load %x[d0] : f32  %c = scalar.constant 3.0 : f32  %q = scalar.div %v, %c : f32  store %q, %o[d0] } }
