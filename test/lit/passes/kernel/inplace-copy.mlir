// RUN: mini-opt %s -p kernel-inplace --print-remarks --split-input-file | filecheck %s

/// A copy of memory that dies with it, element by element: the memory becomes the result as it is.
// CHECK-NOT:  kernel.func @copy
// CHECK:      %b = kernel.reuse %a : !aten.t<f32[64]> to !aten.t<f32[8, 8]>
// CHECK-NEXT: func.return %b
// CHECK:      // remark: [kernel-inplace] accepted copy: it would write what is there: no launch
kernel.func @fill(write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 { %v = scalar.constant 1.0 : f32  store %v, %o[d0] } }
kernel.func @copy(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 <run threads> { %v = load %x[d0] : f32  store %v, %o[d0] } }
func.func @call() -> !aten.t<f32[8, 8]> {
  %a = kernel.alloc : !aten.t<f32[64]>
  kernel.launch @fill(%a)[]
  %b = kernel.alloc : !aten.t<f32[8, 8]>
  kernel.launch @copy(%a, %b)[]
  func.return %b : !aten.t<f32[8, 8]>
}

// -----

/// Negative twin: the memory is an argument's, which is not ours to give away.
// CHECK:      kernel.launch @copy(%a, %b)[]
kernel.func @copy(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 <run threads> { %v = load %x[d0] : f32  store %v, %o[d0] } }
func.func @call(%a: !aten.t<f32[64]>) -> !aten.t<f32[8, 8]> {
  %b = kernel.alloc : !aten.t<f32[8, 8]>
  kernel.launch @copy(%a, %b)[]
  func.return %b : !aten.t<f32[8, 8]>
}

// -----

/// Negative twin: it changes each element.
// CHECK:      kernel.launch @half
kernel.func @fill(write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 { %v = scalar.constant 1.0 : f32  store %v, %o[d0] } }
kernel.func @half(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 <run threads> { %v = load %x[d0] : f32  %r = scalar.neg %v : f32  store %r, %o[d0] } }
func.func @call() -> !aten.t<f32[64]> {
  %a = kernel.alloc : !aten.t<f32[64]>
  kernel.launch @fill(%a)[]
  %b = kernel.alloc : !aten.t<f32[64]>
  kernel.launch @half(%a, %b)[]
  func.return %b : !aten.t<f32[64]>
}
