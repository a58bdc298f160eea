// RUN: mini-opt %s --split-input-file -p 'kernel-pack' --print-remarks | filecheck %s
// RUN: mini-opt %s --split-input-file -p 'kernel-pack{preset=seed}' | filecheck %s --check-prefix=SEED
// RUN: mini-opt %s --split-input-file -p 'kernel-pack{max-args=3}' | filecheck %s --check-prefix=SEED

/// Updates of two parameters share a launch; the call between needs neither and goes first.
// CHECK:       kernel.func @cpp_fused_add_mul_pack2_0(read %x : !kernel.buf<f32[8]>, update %p : !kernel.buf<f32[8]>, read %y : !kernel.buf<f32[s0]>, update %q : !kernel.buf<f32[s0]>) [s0] config {target = "cpp"} origins ["add", "mul"] bytes <floor 12 * s0 + 96, unfused 12 * s0 + 96, planned 12 * s0 + 96> {
// CHECK-NEXT:    kernel.parallel d0 : 8 {
// CHECK:         kernel.parallel d0 : s0 {
// CHECK-NOT:   kernel.func
// CHECK-LABEL: func.func @call
// CHECK:         kernel.extern
// CHECK-NEXT:    kernel.launch @cpp_fused_add_mul_pack2_0(%g, %p, %h, %q)[s0]
// CHECK-NEXT:    func.return
// CHECK:       // remark: [kernel-pack] accepted cpp_fused_add_0, cpp_fused_mul_1: one launch of 2
// SEED-LABEL:  func.func @call
// SEED-COUNT-2:  kernel.launch
kernel.func @cpp_fused_add_0(read %x : !kernel.buf<f32[8]>, update %p : !kernel.buf<f32[8]>) [] config {target = "cpp"} origins ["add"] bytes <floor 96, unfused 96, planned 96> {
  parallel d0 : 8 { %v = load %x[d0] : f32  store add %v, %p[d0] } }
kernel.func @cpp_fused_mul_1(read %y : !kernel.buf<f32[s0]>, update %q : !kernel.buf<f32[s0]>) [s0] config {target = "cpp"} origins ["mul"] bytes <floor 12 * s0, unfused 12 * s0, planned 12 * s0> {
  parallel d0 : s0 { %v = load %y[d0] : f32  store mul %v, %q[d0] } }
func.func @call(%g: !aten.t<f32[8]>, %p: !aten.t<f32[8]>, %h: !aten.t<f32[s0]>, %q: !aten.t<f32[s0]>, %z: !aten.t<f32[4, 4]>) -> !aten.t<f32[4, 4]> attributes {symbols = #aten.symbols<s0 = [hint 64, min 2]>} {
  kernel.launch @cpp_fused_add_0(%g, %p)[]
  %m = kernel.extern "aten.mm.default"(%z, %z) args [#loop.arg<0>, #loop.arg<1>] : (!aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>) -> !aten.t<f32[4, 4]>
  kernel.launch @cpp_fused_mul_1(%h, %q)[s0]
  func.return %m : !aten.t<f32[4, 4]> }

// -----

/// Negative twins: @b reads what @a wrote, through a view; @c moves too much to gain from a launch.
// CHECK-LABEL: func.func @call
// CHECK:         kernel.launch @a(%x, %t)[]
// CHECK-NEXT:    kernel.reinterpret
// CHECK-NEXT:    kernel.launch @b(%v, %u)[]
// CHECK-NEXT:    kernel.launch @c(%w, %o)[]
// SEED-LABEL:  func.func @call
kernel.func @a(read %x : !kernel.buf<f32[8]>, write %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} bytes <floor 64, unfused 64, planned 64> {
  parallel d0 : 8 { %v = load %x[d0] : f32  store %v, %o[d0] } }
kernel.func @b(read %x : !kernel.buf<f32[8]>, write %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} bytes <floor 64, unfused 64, planned 64> {
  parallel d0 : 8 { %v = load %x[d0] : f32  store %v, %o[d0] } }
kernel.func @c(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1048576]>) [] config {target = "cpp"} bytes <floor 8388608, unfused 8388608, planned 8388608> {
  parallel d0 : 1048576 { %v = load %x[d0] : f32  store %v, %o[d0] } }
func.func @call(%x: !aten.t<f32[8]>, %w: !aten.t<f32[1048576]>) -> (!aten.t<f32[8]>, !aten.t<f32[1048576]>) {
  %t = kernel.alloc : !aten.t<f32[8]>
  %u = kernel.alloc : !aten.t<f32[8]>
  %o = kernel.alloc : !aten.t<f32[1048576]>
  kernel.launch @a(%x, %t)[]
  %v = kernel.reinterpret %t offset 0 : !aten.t<f32[8]> to !aten.t<f32[8]>
  kernel.launch @b(%v, %u)[]
  kernel.launch @c(%w, %o)[]
  func.return %u, %o : !aten.t<f32[8]>, !aten.t<f32[1048576]> }

// -----

/// Negative twin: a whole reduction that stores on its way gives its value to one thread only.
// CHECK-LABEL: func.func @call
// CHECK-COUNT-2: kernel.launch
// CHECK:       // remark: [kernel-pack] refused r: a reduction over the whole kernel stores on its way
// SEED-LABEL:  func.func @call
kernel.func @r(read %x : !kernel.buf<f32[8]>, write %o : !kernel.buf<f32[8]>, write %p : !kernel.buf<f32[1]>) [] config {target = "cpp"} bytes <floor 68, unfused 68, planned 68> {
  %t = reduce d0 : 8 [add] -> f32 { %v = load %x[d0] : f32  store %v, %o[d0]  yield %v : f32 }
  store %t, %p[0] }
kernel.func @s(read %x : !kernel.buf<f32[8]>, write %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} bytes <floor 64, unfused 64, planned 64> {
  parallel d0 : 8 { %v = load %x[d0] : f32  store %v, %o[d0] } }
func.func @call(%x: !aten.t<f32[8]>) -> (!aten.t<f32[8]>, !aten.t<f32[1]>, !aten.t<f32[8]>) {
  %t = kernel.alloc : !aten.t<f32[8]>
  %u = kernel.alloc : !aten.t<f32[1]>
  %o = kernel.alloc : !aten.t<f32[8]>
  kernel.launch @r(%x, %t, %u)[]
  kernel.launch @s(%x, %o)[]
  func.return %t, %u, %o : !aten.t<f32[8]>, !aten.t<f32[1]>, !aten.t<f32[8]> }
