// RUN: mini-opt %s -p kernel-stream --split-input-file | filecheck %s

/// Rows of 1000 elements begin with a line and have a tail of their own; so do flat loops.
// CHECK-LABEL: kernel.func @rows
// CHECK:         kernel.store %v, %o[1008 * d0 + d1] {nt}
// CHECK:         kernel.store %w, %p[d2] {nt}
kernel.func @rows(read %x : !kernel.buf<f32[4128768]>, write %o : !kernel.buf<f32[4128768]>, write %p : !kernel.buf<f32[4128767]>) [] config {target = "cpp", threads = 2} {
  parallel d0 : 4096 <run threads> {
    parallel d1 : 1000 <lanes 16, unroll 4, tail scalar> { %v = load %x[1008 * d0 + d1] : f32  store %v, %o[1008 * d0 + d1] } }
  parallel d2 : 4128767 <run threads, lanes 16, tail scalar> { %w = load %x[d2] : f32  store %w, %p[d2] } }
func.func @call(%x: !aten.t<f32[4128768]>) -> (!aten.t<f32[4128768]>, !aten.t<f32[4128767]>) {
  %a = kernel.alloc : !aten.t<f32[4128768]>
  %b = kernel.alloc : !aten.t<f32[4128767]>
  kernel.launch @rows(%x, %a, %b)[]
  func.return %a, %b : !aten.t<f32[4128768]>, !aten.t<f32[4128767]>
}

// -----

/// Negative twins: rows of 56 elements end within a line, in which the next one begins; a row begins
/// behind a line's first element; the last vector of a row overlaps the one before.
// CHECK-LABEL: kernel.func @halves
// CHECK-NOT:   {nt}
kernel.func @halves(read %x : !kernel.buf<f32[4128768]>, write %o : !kernel.buf<f32[4128768]>) [] config {target = "cpp", threads = 2} {
  parallel d0 : 73728 <run threads> {
    parallel d1 : 56 <lanes 16, unroll 2, tail scalar> { %v = load %x[56 * d0 + d1] : f32  store %v, %o[56 * d0 + d1] } } }
kernel.func @behind(read %x : !kernel.buf<f32[4128768]>, write %o : !kernel.buf<f32[4128768]>) [] config {target = "cpp", threads = 2} {
  parallel d0 : 4096 <run threads> {
    parallel d1 : 1000 <lanes 16, unroll 4, tail scalar> { %v = load %x[1008 * d0 + d1] : f32  store %v, %o[1008 * d0 + d1 + 3] } } }
kernel.func @overlaps(read %x : !kernel.buf<f32[4128768]>, write %o : !kernel.buf<f32[4128768]>) [] config {target = "cpp", threads = 2} {
  parallel d0 : 4096 <run threads> {
    parallel d1 : 1000 <lanes 16, unroll 4, tail overlap> { %v = load %x[1008 * d0 + d1] : f32  store %v, %o[1008 * d0 + d1] } } }
func.func @call(%x: !aten.t<f32[4128768]>) -> (!aten.t<f32[4128768]>, !aten.t<f32[4128768]>, !aten.t<f32[4128768]>) {
  %a = kernel.alloc : !aten.t<f32[4128768]>
  kernel.launch @halves(%x, %a)[]
  %b = kernel.alloc : !aten.t<f32[4128768]>
  kernel.launch @behind(%x, %b)[]
  %c = kernel.alloc : !aten.t<f32[4128768]>
  kernel.launch @overlaps(%x, %c)[]
  func.return %a, %b, %c : !aten.t<f32[4128768]>, !aten.t<f32[4128768]>, !aten.t<f32[4128768]>
}
