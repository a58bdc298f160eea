// RUN: mini-opt %s --split-input-file -p loop-inline --print-remarks | filecheck %s
// RUN: mini-opt %s --split-input-file -p 'loop-inline{emulate=true}' | filecheck %s --check-prefix=EMULATE

/// A stored choice of a half value is compared with the value: done again in f32, it would be less
/// than itself, so it is stored too. With every rounding kept, both are equal, and it is done again.

// CHECK-LABEL: @compared
// CHECK:       %[[V:.*]] = loop.nest {{.*}} origins ["neg"]
// CHECK:       origins ["where"]
// CHECK:       loop.load %[[V]]
// CHECK:       origins ["lt"]
// CHECK:       loop.load %[[V]]
// CHECK:       scalar.lt
// CHECK:       refused neg: compared with what holds it, so both are one number
// EMULATE-LABEL: @compared
// EMULATE:     origins ["neg", "where"]
// EMULATE:     origins ["~neg", "lt"]
func.func @compared(%x: !aten.t<f32[8]>, %m: !aten.t<bool[512, 8]>) -> (!aten.t<f16[512, 8]>, !aten.t<bool[512, 8]>) {
  %v = loop.nest (d0: 8) -> (%o : !aten.t<f16[8]>) origins ["neg"] {
    %a = loop.load %x[d0] : f32
    %b = scalar.neg %a : f32
    %h = scalar.cast %b storage : f32 to f16
    loop.store %h, %o[d0]
  }
  %w = loop.nest (d0: 512, d1: 8) -> (%o : !aten.t<f16[512, 8]>) origins ["where"] {
    %c = loop.load %m[d0, d1] : i1
    %a = loop.load %v[d1] : f16
    %b = scalar.cast %a : f16 to f32
    %z = scalar.constant 0.0 : f32
    %s = scalar.select %c, %b, %z : f32
    %h = scalar.cast %s storage : f32 to f16
    loop.store %h, %o[d0, d1]
  }
  %l = loop.nest (d0: 512, d1: 8) -> (%o : !aten.t<bool[512, 8]>) origins ["lt"] {
    %a = loop.load %w[d0, d1] : f16
    %b = scalar.cast %a : f16 to f32
    %c = loop.load %v[d1] : f16
    %d = scalar.cast %c : f16 to f32
    %s = scalar.lt %b, %d : f32
    loop.store %s, %o[d0, d1]
  }
  func.return %w, %l : !aten.t<f16[512, 8]>, !aten.t<bool[512, 8]>
}

// -----

/// Negative twin: a product of the two hides a bit, so the value is done again.

// CHECK-LABEL: @multiplied
// CHECK:       origins ["neg", "where"]
// CHECK:       origins ["~neg", "mul"]
func.func @multiplied(%x: !aten.t<f32[8]>, %m: !aten.t<bool[512, 8]>) -> (!aten.t<f16[512, 8]>, !aten.t<f32[512, 8]>) {
  %v = loop.nest (d0: 8) -> (%o : !aten.t<f16[8]>) origins ["neg"] {
    %a = loop.load %x[d0] : f32
    %b = scalar.neg %a : f32
    %h = scalar.cast %b storage : f32 to f16
    loop.store %h, %o[d0]
  }
  %w = loop.nest (d0: 512, d1: 8) -> (%o : !aten.t<f16[512, 8]>) origins ["where"] {
    %c = loop.load %m[d0, d1] : i1
    %a = loop.load %v[d1] : f16
    %b = scalar.cast %a : f16 to f32
    %z = scalar.constant 0.0 : f32
    %s = scalar.select %c, %b, %z : f32
    %h = scalar.cast %s storage : f32 to f16
    loop.store %h, %o[d0, d1]
  }
  %l = loop.nest (d0: 512, d1: 8) -> (%o : !aten.t<f32[512, 8]>) origins ["mul"] {
    %a = loop.load %w[d0, d1] : f16
    %b = scalar.cast %a : f16 to f32
    %c = loop.load %v[d1] : f16
    %d = scalar.cast %c : f16 to f32
    %s = scalar.mul %b, %d : f32
    loop.store %s, %o[d0, d1]
  }
  func.return %w, %l : !aten.t<f16[512, 8]>, !aten.t<f32[512, 8]>
}
