// RUN: mini-opt %s --split-input-file -p loop-fuse | filecheck %s
// RUN: mini-opt %s --split-input-file -p 'loop-fuse{preset=seed}' | filecheck %s --check-prefix=SEED

/// Group norm: the reader's channels split into groups, so that both share (16, 8).

// CHECK-LABEL: @split
// CHECK-NEXT:  loop.group
// CHECK-NEXT:    loop.nest (d0: 16, d1: 8) reduce (d2: 8, d3: 784)
// CHECK:         loop.nest (d0: 16, d1: 8, d2: 8, d3: 784)
// CHECK-NEXT:      loop.load %x[d0, 8 * d1 + d2, d3] : f32
// CHECK-NEXT:      loop.load %{{.*}}[d0, d1] : f32
// SEED-LABEL:  @split
// SEED-COUNT-2: loop.group
func.func @split(%x: !aten.t<f32[16, 64, 784]>) -> !aten.t<f32[16, 64, 784]> {
  %buf0 = loop.nest (d0: 16, d1: 8) reduce (d2: 8, d3: 784) -> (%o : !aten.t<f32[16, 8]>) {
    %v = loop.load %x[d0, 8 * d1 + d2, d3] : f32
    %s = loop.reduce add %v : f32 -> f32
    loop.store %s, %o[d0, d1]
  }
  %buf1 = loop.nest (d0: 16, d1: 64, d2: 784) -> (%o : !aten.t<f32[16, 64, 784]>) {
    %v = loop.load %x[d0, d1, d2] : f32
    %m = loop.load %buf0[d0, d1 floordiv 8] : f32
    %s = scalar.sub %v, %m : f32
    loop.store %s, %o[d0, d1, d2]
  }
  func.return %buf1 : !aten.t<f32[16, 64, 784]>
}

// -----

/// Batch norm: the reader walks channels first, as the reduction does.

// CHECK-LABEL: @permuted
// CHECK-NEXT:  loop.group
// CHECK-NEXT:    loop.nest (d0: 64) reduce (d1: 16, d2: 784)
// CHECK:         loop.nest (d0: 64, d1: 16, d2: 784)
// CHECK-NEXT:      loop.load %x[d1, d0, d2] : f32
// SEED-LABEL:  @permuted
// SEED-COUNT-2: loop.group
func.func @permuted(%x: !aten.t<f32[16, 64, 784]>) -> !aten.t<f32[16, 64, 784]> {
  %buf0 = loop.nest (d0: 64) reduce (d1: 16, d2: 784) -> (%o : !aten.t<f32[64]>) {
    %v = loop.load %x[d1, d0, d2] : f32
    %s = loop.reduce add %v : f32 -> f32
    loop.store %s, %o[d0]
  }
  %buf1 = loop.nest (d0: 16, d1: 64, d2: 784) -> (%o : !aten.t<f32[16, 64, 784]>) {
    %v = loop.load %x[d0, d1, d2] : f32
    %m = loop.load %buf0[d1] : f32
    %s = scalar.sub %v, %m : f32
    loop.store %s, %o[d0, d1, d2]
  }
  func.return %buf1 : !aten.t<f32[16, 64, 784]>
}

// -----

/// Negative twin: 64 channels do not divide into groups of 7, so no split makes the shapes agree.

// CHECK-LABEL: @uneven
// CHECK-COUNT-2: loop.group
func.func @uneven(%x: !aten.t<f32[16, 64, 784]>) -> !aten.t<f32[16, 64, 784]> {
  %buf0 = loop.nest (d0: 16, d1: 10) reduce (d2: 784) -> (%o : !aten.t<f32[16, 10]>) {
    %v = loop.load %x[d0, d1, d2] : f32
    %s = loop.reduce add %v : f32 -> f32
    loop.store %s, %o[d0, d1]
  }
  %buf1 = loop.nest (d0: 16, d1: 64, d2: 784) -> (%o : !aten.t<f32[16, 64, 784]>) {
    %v = loop.load %x[d0, d1, d2] : f32
    %m = loop.load %buf0[d0, d1 floordiv 7] : f32
    %s = scalar.sub %v, %m : f32
    loop.store %s, %o[d0, d1, d2]
  }
  func.return %buf1 : !aten.t<f32[16, 64, 784]>
}
