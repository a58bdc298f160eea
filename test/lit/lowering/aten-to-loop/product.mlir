// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s
// RUN: mini-opt %s -p 'aten-to-loop{skinny=0}' --split-input-file | filecheck %s --check-prefix=OFF

/// Four rows by a matrix of 16 MiB that lies by columns: loops over the columns, rows inside.
// CHECK-LABEL: func.func @few
// CHECK:         loop.nest (d0: 2048, d1: 4) reduce (d2: 2048) -> (%o : !aten.t<f32[4, 2048]>)
// CHECK:           loop.store %{{.*}}, %o[d1, d0]
// OFF:           loop.extern "aten.mm.default"
func.func @few(%x: !aten.t<f32[4, 2048]>, %w: !aten.t<f32[2048, 2048]:[1, 2048]>) -> !aten.t<f32[4, 2048]> {
  %r = aten.mm.default(%x, %w) : !aten.t<f32[4, 2048]>
  func.return %r : !aten.t<f32[4, 2048]>
}

// -----

/// Negative twins: three rows, nine rows, a small matrix, one that lies by rows, another dtype.
// CHECK-LABEL: func.func @calls
// CHECK-NOT:     loop.nest
func.func @calls(%x: !aten.t<f32[3, 2048]>, %y: !aten.t<f32[9, 2048]>, %z: !aten.t<f32[4, 256]>, %u: !aten.t<f32[4, 2048]>, %h: !aten.t<bf16[4, 2048]>, %w: !aten.t<f32[2048, 2048]:[1, 2048]>, %s: !aten.t<f32[256, 256]:[1, 256]>, %v: !aten.t<f32[2048, 2048]>, %g: !aten.t<bf16[2048, 2048]:[1, 2048]>) -> (!aten.t<f32[3, 2048]>, !aten.t<f32[9, 2048]>, !aten.t<f32[4, 256]>, !aten.t<f32[4, 2048]>, !aten.t<bf16[4, 2048]>) {
  %a = aten.mm.default(%x, %w) : !aten.t<f32[3, 2048]>
  %b = aten.mm.default(%y, %w) : !aten.t<f32[9, 2048]>
  %c = aten.mm.default(%z, %s) : !aten.t<f32[4, 256]>
  %d = aten.mm.default(%u, %v) : !aten.t<f32[4, 2048]>
  %e = aten.mm.default(%h, %g) : !aten.t<bf16[4, 2048]>
  func.return %a, %b, %c, %d, %e : !aten.t<f32[3, 2048]>, !aten.t<f32[9, 2048]>, !aten.t<f32[4, 256]>, !aten.t<f32[4, 2048]>, !aten.t<bf16[4, 2048]>
}
