// RUN: %roundtrip
// RUN: %generic

/// Persistent and looped softmax, a transposed store through a local tile, a scan, the host program.
// CHECK-LABEL: kernel.func @persistent
// CHECK:         kernel.parallel d0 : s0 <run grid> {
// CHECK-NEXT:      kernel.tile d1 : s1 <lanes 1024, tail mask> {
// CHECK:             kernel.fold max %a over d1 : f32 -> f32
// CHECK-LABEL: kernel.func @looped
// CHECK:         kernel.reduce d1 : s1 <lanes 4096, tail mask> [max_sumexp] -> f32, f32 {
// CHECK:           kernel.load %x[s1 * d0 + d1] {evict = "last"} : f32
// CHECK-LABEL: kernel.func @staged
// CHECK:         kernel.local reg : !kernel.buf<f32[256]>
// CHECK:         kernel.store %v, %t[16 * d0 + d1] {nt}
// CHECK:         kernel.transpose %t[16, 16]
// CHECK-LABEL: kernel.func @scan
// CHECK:         kernel.scan d0 : 8 [add] {
// CHECK:         } do (%p: f32) {
// CHECK-LABEL: func.func @call
// CHECK:         kernel.check %x align 16 : !aten.t<f32[s0, s1]>
// CHECK:         kernel.launch @persistent(%x, %o)[s0, s1] when (-s1 + 1025) else @looped
// CHECK:         kernel.reinterpret %o offset 4 : !aten.t<f32[s0, s1]> to !aten.t<f32[4]>
// CHECK:         kernel.size : !aten.int<s1 * s0>
// CHECK:         kernel.free %x
kernel.func @persistent(read %x : !kernel.buf<f32[s0 * s1]>, write %o : !kernel.buf<f32[s0 * s1]>) [s0, s1] config {target = "triton", warps = 4} {
  parallel d0 : s0 <run grid> { tile d1 : s1 <lanes 1024, tail mask> {
    %a = load %x[s1 * d0 + d1] : f32  %m = fold max %a over d1 : f32 -> f32
    %c = scalar.sub %a, %m : f32  store %c, %o[s1 * d0 + d1] } } }
kernel.func @looped(read %x : !kernel.buf<f32[s0 * s1]>, write %o : !kernel.buf<f32[s0 * s1]>) [s0, s1] config {target = "triton", warps = 8} {
  parallel d0 : s0 <run grid> {
    %m, %s = reduce d1 : s1 <lanes 4096, tail mask> [max_sumexp] -> f32, f32 {
      %a = load %x[s1 * d0 + d1] {evict = "last"} : f32  yield %a : f32 }
    store %s, %o[d0] } }
kernel.func @staged(read %x : !kernel.buf<f32[256]>, write %o : !kernel.buf<f32[256]>) [] config {target = "cpp"} {
  %t = local reg : !kernel.buf<f32[256]>
  for d0 : 16 { parallel d1 : 16 <lanes 16> { %v = load %x[16 * d0 + d1] : f32  store %v, %t[16 * d0 + d1] {nt} } }
  transpose %t[16, 16]
  barrier
  parallel d0 : 256 { %v = load %t[d0] : f32  store %v, %o[d0] } }
kernel.func @scan(read %x : !kernel.buf<f32[8]>, update %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  scan d0 : 8 [add] { %v = load %x[d0] : f32  yield %v : f32 } do (%p : f32) { store add %p, %o[d0] {by = "owner"} } }
func.func @call(%x: !aten.t<f32[s0, s1]>) -> (!aten.t<f32[4]>, !aten.int<s0 * s1>) {
  kernel.check %x align 16 : !aten.t<f32[s0, s1]>
  %o = kernel.alloc : !aten.t<f32[s0, s1]>
  kernel.launch @persistent(%x, %o)[s0, s1] when (1025 - s1) else @looped
  %r = kernel.reinterpret %o offset 4 : !aten.t<f32[s0, s1]> to !aten.t<f32[4]>
  %n = kernel.size : !aten.int<s0 * s1>
  kernel.free %x
  func.return %r, %n : !aten.t<f32[4]>, !aten.int<s0 * s1> }
