// RUN: %invalid

/// A variable without a loop.
// CHECK: `kernel.load` uses d1, which no loop around binds
kernel.func @unbound(read %x : !kernel.buf<f32[8]>, write %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  parallel d0 : 8 { %v = load %x[d1] : f32  store %v, %o[d0] } }

// -----

/// A size that the kernel does not take.
// CHECK: `kernel.parallel` uses s0; declare it in the symbol list
kernel.func @symbol(write %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  %z = scalar.constant 0.0 : f32
  parallel d0 : s0 { store %z, %o[0] } }

// -----

/// Words that a target does not have.
// CHECK: target triton has no `run threads`: one of seq, grid
kernel.func @words(write %o : !kernel.buf<f32[8]>) [] config {target = "triton"} {
  %z = scalar.constant 0.0 : f32
  parallel d0 : 8 <run threads> { store %z, %o[d0] } }

// -----

/// Lanes come in powers of two.
// CHECK: lanes 12 is not a power of two
kernel.func @lanes(write %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  %z = scalar.constant 0.0 : f32
  parallel d0 : 8 <lanes 12> { store %z, %o[d0] } }

// -----

/// A buffer that is only read.
// CHECK: store to a `read` buffer; declare it write or update
kernel.func @access(read %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  %z = scalar.constant 0.0 : f32
  parallel d0 : 8 { store %z, %o[d0] } }

// -----

/// A reduction yields what its kinds take.
// CHECK: [argmax] takes 2 yielded values and gives 2; 1 yielded, 1 results
kernel.func @kinds(read %x : !kernel.buf<f32[8]>, write %o : !kernel.buf<f32[1]>) [] config {target = "cpp"} {
  %t = reduce d0 : 8 [argmax] -> f32 { %v = load %x[d0] : f32  yield %v : f32 }
  store %t, %o[0] }

// -----

/// A fold needs the tile around it.
// CHECK: `kernel.fold` over d0 is not inside its tile
kernel.func @fold(read %x : !kernel.buf<f32[8]>, write %o : !kernel.buf<f32[1]>) [] config {target = "triton"} {
  %v = load %x[0] : f32
  %t = fold add %v over d0 : f32 -> f32
  store %t, %o[0] }
