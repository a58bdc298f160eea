// RUN: mini-opt %s -p kernel-inplace --print-remarks --split-input-file | filecheck %s

/// The result takes the memory of the input that dies with it: one buffer in the kernel, too.
// CHECK:      kernel.func @k(update %x : !kernel.buf<f32[64]>)
// CHECK:        kernel.load %x[d0]
// CHECK:        kernel.store %{{.*}}, %x[d0]
// CHECK:      %b = kernel.reuse %a : !aten.t<f32[64]> to !aten.t<f32[8, 8]>
// CHECK-NEXT: kernel.launch @k(%b)[]
// CHECK-NEXT: func.return %b
// CHECK:      // remark: [kernel-inplace] accepted b, a: no place is read after it is written
kernel.func @fill(write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 { %v = scalar.constant 1.0 : f32  store %v, %o[d0] } }
kernel.func @k(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 <run threads> { %v = load %x[d0] : f32  %r = scalar.relu %v : f32  store %r, %o[d0] } }
func.func @call() -> !aten.t<f32[8, 8]> {
  %a = kernel.alloc : !aten.t<f32[64]>
  kernel.launch @fill(%a)[]
  %b = kernel.alloc : !aten.t<f32[8, 8]>
  kernel.launch @k(%a, %b)[]
  func.return %b : !aten.t<f32[8, 8]>
}

// -----

/// Negative twins: an element that is read when another was written over it; a map that is another.
// CHECK:     kernel.launch @turn(%a, %b)[]
// CHECK:     // remark: [kernel-inplace] refused b, a: it is read and written by different maps
kernel.func @fill(write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 { %v = scalar.constant 1.0 : f32  store %v, %o[d0] } }
kernel.func @turn(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 8 { parallel d1 : 8 { %v = load %x[8 * d0 + d1] : f32  store %v, %o[d0 + 8 * d1] } } }
func.func @call() -> !aten.t<f32[64]> {
  %a = kernel.alloc : !aten.t<f32[64]>
  kernel.launch @fill(%a)[]
  %b = kernel.alloc : !aten.t<f32[64]>
  kernel.launch @turn(%a, %b)[]
  func.return %b : !aten.t<f32[64]>
}

// -----

/// Rows: every stage of a row reads before the last one writes; negative twin: a stage reads after.
// CHECK:     kernel.func @late(read %x
// CHECK:     kernel.func @rows(update %x
// CHECK:     // remark: [kernel-inplace] refused b, a: it is read after the result is written
// CHECK:     // remark: [kernel-inplace] accepted c, b: no place is read after it is written
kernel.func @fill(write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 { %v = scalar.constant 1.0 : f32  store %v, %o[d0] } }
kernel.func @late(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>, write %s : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    parallel d1 : 8 { %v = load %x[8 * d0 + d1] : f32  store %v, %o[8 * d0 + d1] }
    %t = reduce d1 : 8 [add] -> f32 { %w = load %x[8 * d0 + d1] : f32  yield %w : f32 }
    store %t, %s[d0] } }
kernel.func @rows(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 8 <run threads> {
    %t = reduce d1 : 8 [add] -> f32 { %w = load %x[8 * d0 + d1] : f32  yield %w : f32 }
    parallel d1 : 8 { %v = load %x[8 * d0 + d1] : f32  %r = scalar.sub %v, %t : f32  store %r, %o[8 * d0 + d1] } } }
func.func @call() -> (!aten.t<f32[64]>, !aten.t<f32[8]>) {
  %a = kernel.alloc : !aten.t<f32[64]>
  kernel.launch @fill(%a)[]
  %b = kernel.alloc : !aten.t<f32[64]>
  %s = kernel.alloc : !aten.t<f32[8]>
  kernel.launch @late(%a, %b, %s)[]
  %c = kernel.alloc : !aten.t<f32[64]>
  kernel.launch @rows(%b, %c)[]
  func.return %c, %s : !aten.t<f32[64]>, !aten.t<f32[8]>
}

// -----

/// A part that is moved by one place, as a pad moves it: each element is read after its neighbour was
/// written.
// CHECK:     kernel.func @moved(read %x
// CHECK:     // remark: [kernel-inplace] refused b, a: the places that loops touch are not proved apart
kernel.func @fill(write %o : !kernel.buf<f32[27]>) [] config {target = "cpp"} {
  parallel d0 : 27 { %v = scalar.constant 1.0 : f32  store %v, %o[d0] } }
kernel.func @moved(read %x : !kernel.buf<f32[27]>, write %o : !kernel.buf<f32[27]>) [] config {target = "cpp"} {
  parallel d0 : 3 { parallel d1 : 9 {
    %c = scalar.within d1 in 1 to 9
    %n = scalar.constant 0.0 : f32
    %v = load %x[9 * d0 + d1 - 1] if %c else %n : f32
    store %v, %o[9 * d0 + d1] } } }
func.func @call() -> !aten.t<f32[27]> {
  %a = kernel.alloc : !aten.t<f32[27]>
  kernel.launch @fill(%a)[]
  %b = kernel.alloc : !aten.t<f32[27]>
  kernel.launch @moved(%a, %b)[]
  func.return %b : !aten.t<f32[27]>
}
