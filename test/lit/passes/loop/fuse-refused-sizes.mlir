// RUN: mini-opt %s --split-input-file -p 'loop-fuse{across=false}' --print-remarks | filecheck %s

/// Loops, calls and sizes that keep a pair apart, each with its reason.

/// Rows of different counts: what they have in common is no loop.
// CHECK-LABEL: @iterations
// CHECK-COUNT-2: loop.group
// CHECK: refused op0, op1: they share no loop, (64,) and (32,)
func.func @iterations(%x: !aten.t<f32[2048]>) -> (!aten.t<f32[64]>, !aten.t<f32[32]>) {
  %buf0 = loop.nest (d0: 64) reduce (d1: 32) -> (%o : !aten.t<f32[64]>) {
    %v = load %x[32 * d0 + d1] : f32  %s = reduce add %v : f32 -> f32  store %s, %o[d0] }
  %buf1 = loop.nest (d0: 32) reduce (d1: 64) -> (%o : !aten.t<f32[32]>) {
    %v = load %x[64 * d0 + d1] : f32  %s = reduce max %v : f32 -> f32  store %s, %o[d0] }
  func.return %buf0, %buf1 : !aten.t<f32[64]>, !aten.t<f32[32]> }

// -----

/// Two sizes that were equal at capture are two sizes.
// CHECK-LABEL: @symbols
// CHECK-COUNT-2: loop.group
// CHECK: refused op1, op2: no shared data
func.func @symbols(%n: !aten.int<s0>, %m: !aten.int<s1>, %x: !aten.t<f32[s0]>, %y: !aten.t<f32[s1]>) -> (!aten.t<f32[s0]>, !aten.t<f32[s1]>) attributes {symbols = #aten.symbols<s0 = [hint 64, min 2], s1 = [hint 64, min 2]>} {
  %w = loop.extern "aten.zeros.default"() args [[8]] : () -> !aten.t<f32[8]>
  %buf0 = loop.nest (d0: s0) -> (%o : !aten.t<f32[s0]>) {
    %v = load %x[d0] : f32  %a = load %w[d0 mod 8] : f32
    %s = scalar.add %v, %a : f32  store %s, %o[d0] }
  %buf1 = loop.nest (d0: s1) -> (%o : !aten.t<f32[s1]>) {
    %v = load %y[d0] : f32  %a = load %w[d0 mod 8] : f32
    %s = scalar.add %v, %a : f32  store %s, %o[d0] }
  func.return %buf0, %buf1 : !aten.t<f32[s0]>, !aten.t<f32[s1]> }

// -----

/// A shifted read: the value is not at hand when its reader is.
// CHECK-LABEL: @shifted
// CHECK-COUNT-2: loop.group
// CHECK: refused op0, op1: op1 reads buf0 at {{.*}}, op0 writes it at
func.func @shifted(%x: !aten.t<f32[64, 65]>) -> (!aten.t<f32[65]>, !aten.t<f32[64]>) {
  %buf0 = loop.nest (d0: 65) reduce (d1: 64) -> (%o : !aten.t<f32[65]>) {
    %v = load %x[d1, d0] : f32  %s = reduce add %v : f32 -> f32  store %s, %o[d0] }
  %buf1 = loop.nest (d0: 64) -> (%o : !aten.t<f32[64]>) {
    %v = load %buf0[d0 + 1] : f32  %s = scalar.sin %v : f32  store %s, %o[d0] }
  func.return %buf0, %buf1 : !aten.t<f32[65]>, !aten.t<f32[64]> }

// -----

/// Calls with effects (collectives, random numbers) keep their order: through it the one nest stands
/// before the other. A view is the tensor that it shows: through it too.
// CHECK-LABEL: @ordered
// CHECK-COUNT-2: loop.group
// CHECK: refused op0, op3: a node between them depends on one and is needed by the other: a cycle
func.func @ordered(%x: !aten.t<f32[8, 8]>) -> (!aten.t<f32[8, 8]>, !aten.t<f32[8, 8]>) {
  %buf0 = loop.nest (d0: 8, d1: 8) -> (%o : !aten.t<f32[8, 8]>) {
    %v = load %x[d0, d1] : f32  %s = scalar.sin %v : f32  store %s, %o[d0, d1] }
  %view = loop.view %buf0 offset 0 : !aten.t<f32[8, 8]> to !aten.t<f32[64]>
  %buf1 = loop.extern "aten.bernoulli.default"(%view) args [#loop.arg<0>] {ordered} : (!aten.t<f32[64]>) -> !aten.t<f32[64]>
  %buf2 = loop.extern "aten.bernoulli.default"(%x) args [#loop.arg<0>] {ordered} : (!aten.t<f32[8, 8]>) -> !aten.t<f32[8, 8]>
  %buf3 = loop.nest (d0: 8, d1: 8) -> (%o : !aten.t<f32[8, 8]>) {
    %v = load %x[d0, d1] : f32  %w = load %buf2[d0, d1] : f32
    %s = scalar.mul %v, %w : f32  store %s, %o[d0, d1] }
  func.return %buf0, %buf3 : !aten.t<f32[8, 8]>, !aten.t<f32[8, 8]> }
