// RUN: mini-opt %s --split-input-file --verify-diagnostics -p 'verify-stage{stage=loop}' | filecheck %s
// RUN: mini-opt %s --split-input-file --verify-diagnostics -p verify-stage | filecheck %s --check-prefix KERNEL
// RUN: mini-opt %s --split-input-file --verify-diagnostics -p 'verify-stage{stage=lop}' | filecheck %s --check-prefix WRONG

/// Arithmetic on scalars belongs to both lower stages.

// CHECK: scalar.constant
// KERNEL: scalar.constant
// WRONG: in pass 'verify-stage': unknown stage 'lop', did you mean 'loop'?
%a = scalar.constant 2.0 : f32

// -----

/// A nest belongs to `loop`; at the end of the road it is an error that names the missing lowering.

// CHECK: loop.nest
// KERNEL: in pass 'verify-stage': 'loop.nest' does not belong to the stage 'kernel': run loop-to-kernel before
// WRONG: unknown stage
%buf0 = loop.nest (d0: 4) -> (%o : !aten.t<f32[4]>) {
  %x = scalar.constant 2.0 : f32
  loop.store %x, %o[d0]
}
