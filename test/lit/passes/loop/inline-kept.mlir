// RUN: mini-opt %s --split-input-file -p loop-inline --print-remarks | filecheck %s
// RUN: mini-opt %s --split-input-file -p 'loop-inline{emulate=true}' | filecheck %s --check-prefix=EMULATE

/// Negative twin: a result is stored in any case, so its reader loads it.

// CHECK-LABEL: @returned
// CHECK-COUNT-2: loop.nest
// CHECK:       remark: [loop-inline] refused sin: stored in any case, so readers load it
func.func @returned(%x: !aten.t<f32[64]>) -> (!aten.t<f32[64]>, !aten.t<f32[64]>) {
  %sin = loop.nest (d0: 64) -> (%o : !aten.t<f32[64]>) origins ["sin"] {
    %v = loop.load %x[d0] : f32
    %s = scalar.sin %v : f32
    loop.store %s, %o[d0]
  }
  %cos = loop.nest (d0: 64) -> (%o : !aten.t<f32[64]>) origins ["cos"] {
    %v = loop.load %sin[d0] : f32
    %s = scalar.cos %v : f32
    loop.store %s, %o[d0]
  }
  func.return %sin, %cos : !aten.t<f32[64]>, !aten.t<f32[64]>
}

// -----

/// A costly value that would be computed at every point of a larger loop is stored; a reduction is
/// never computed in its reader, and what nobody reads disappears. `emulate` keeps the rounding.

// CHECK-LABEL: @broadcast
// CHECK-COUNT-2: loop.nest
// CHECK-NOT:   loop.nest
// CHECK:       remark: [loop-inline] refused lgamma: storing moves no more bytes than computing it again
// EMULATE-LABEL: @broadcast
func.func @broadcast(%x: !aten.t<f32[512]>, %y: !aten.t<f32[4096, 512]>) -> !aten.t<f32[4096, 512]> {
  %unread = loop.nest () reduce (d0: 512) -> (%o : !aten.t<f32[]>) origins ["sum"] {
    %v = loop.load %x[d0] : f32
    %s = loop.reduce add %v : f32 -> f32
    loop.store %s, %o[]
  }
  %lgamma = loop.nest (d0: 512) -> (%o : !aten.t<f32[512]>) origins ["lgamma"] {
    %v = loop.load %x[d0] : f32
    %s = scalar.lgamma %v : f32
    loop.store %s, %o[d0]
  }
  %add = loop.nest (d0: 4096, d1: 512) -> (%o : !aten.t<f32[4096, 512]>) origins ["add"] {
    %v = loop.load %lgamma[d1] : f32
    %w = loop.load %y[d0, d1] : f32
    %s = scalar.add %v, %w : f32
    loop.store %s, %o[d0, d1]
  }
  func.return %add : !aten.t<f32[4096, 512]>
}

// -----

// EMULATE-LABEL: @rounding
// EMULATE:     scalar.cast %{{.*}} storage : f32 to bf16
// EMULATE-NEXT: scalar.cast %{{.*}} : bf16 to f32
func.func @rounding(%x: !aten.t<f32[8]>) -> !aten.t<f32[8]> {
  %a = loop.nest (d0: 8) -> (%o : !aten.t<bf16[8]>) {
    %v = loop.load %x[d0] : f32
    %h = scalar.cast %v storage : f32 to bf16
    loop.store %h, %o[d0]
  }
  %b = loop.nest (d0: 8) -> (%o : !aten.t<f32[8]>) {
    %v = loop.load %a[d0] : bf16
    %s = scalar.cast %v : bf16 to f32
    loop.store %s, %o[d0]
  }
  func.return %b : !aten.t<f32[8]>
}
