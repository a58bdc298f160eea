// RUN: mini-opt %s -p canonicalize --allow-unregistered-dialect | filecheck %s

/// Constants fold in the type's own arithmetic: integers wrap, floats round.
// CHECK-LABEL: func.func @constants
// CHECK-DAG:     [[WRAP:%.*]] = scalar.constant -128 : i8
// CHECK-DAG:     [[UNSIGNED:%.*]] = scalar.constant 0 : ui8
// CHECK-DAG:     [[ROUNDED:%.*]] = scalar.constant 0.3 : f32
// CHECK-DAG:     [[TRUE:%.*]] = scalar.constant 1 : i1
// CHECK:         "test.use"([[WRAP]], [[UNSIGNED]], [[ROUNDED]], [[TRUE]])
func.func @constants() {
  %a = scalar.constant 127 : i8
  %b = scalar.constant 1 : i8
  %c = scalar.add %a, %b : i8
  %d = scalar.constant 255 : ui8
  %e = scalar.constant 1 : ui8
  %f = scalar.add %d, %e : ui8
  %g = scalar.constant 0.1 : f32
  %h = scalar.constant 0.2 : f32
  %i = scalar.add %g, %h : f32
  %j = scalar.lt %g, %h : f32
  "test.use"(%c, %f, %i, %j) : (i8, ui8, f32, i1) -> ()
  func.return }

/// Units and idempotent ops go where that holds for every value.
// CHECK-LABEL: func.func @units
// CHECK:         "test.use"(%x, %x, %x, %x, %n)
func.func @units(%x : f32, %n : i64) {
  %one = scalar.constant 1.0 : f32
  %m = scalar.mul %x, %one : f32
  %negzero = scalar.constant -0.0 : f32
  %s = scalar.add %x, %negzero : f32
  %q = scalar.maximum %x, %x : f32
  %p = scalar.neg %x : f32
  %r = scalar.neg %p : f32
  %zero = scalar.constant 0 : i64
  %t = scalar.add %zero, %n : i64
  "test.use"(%m, %s, %q, %r, %t) : (f32, f32, f32, f32, i64) -> ()
  func.return }

/// Negative twins: -0.0 + 0.0 is 0.0, NaN * 0.0 is NaN, inf - inf is NaN; a storage cast rounds.
// CHECK-LABEL: func.func @kept
// CHECK:         scalar.add
// CHECK:         scalar.mul
// CHECK:         scalar.sub
// CHECK:         scalar.cast
func.func @kept(%x : f32) {
  %zero = scalar.constant 0.0 : f32
  %a = scalar.add %x, %zero : f32
  %b = scalar.mul %x, %zero : f32
  %c = scalar.sub %x, %x : f32
  %d = scalar.cast %x storage : f32 to bf16
  "test.use"(%a, %b, %c, %d) : (f32, f32, f32, bf16) -> ()
  func.return }

/// A small integer is exact in a half; negative twins: 16 bits are not, and a narrower float rounds.
// CHECK-LABEL: func.func @exact
// CHECK:         scalar.cast %a : i8 to f32
// CHECK:         scalar.cast %b : i16 to bf16
// CHECK:         scalar.cast %{{.*}} : bf16 to f32
// CHECK:         scalar.cast %a : i8 to f32
// CHECK:         scalar.cast %{{.*}} : f32 to bf16
func.func @exact(%a : i8, %b : i16) {
  %c = scalar.cast %a : i8 to bf16
  %d = scalar.cast %c : bf16 to f32
  %e = scalar.cast %b : i16 to bf16
  %f = scalar.cast %e : bf16 to f32
  %g = scalar.cast %a : i8 to f32
  %h = scalar.cast %g : f32 to bf16
  "test.use"(%d, %f, %h) : (f32, f32, bf16) -> ()
  func.return }
