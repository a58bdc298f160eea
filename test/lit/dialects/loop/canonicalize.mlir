// RUN: mini-opt %s -p canonicalize | filecheck %s

/// Views compose and vanish where they change nothing.
// CHECK-LABEL: func.func @views
// CHECK-NEXT:    %b = loop.view %x offset 12 : !aten.t<f32[64]> to !aten.t<f32[4]>
// CHECK-NEXT:    func.return %x, %b
func.func @views(%x: !aten.t<f32[64]>) -> (!aten.t<f32[64]>, !aten.t<f32[4]>) {
  %s = loop.view %x offset 0 : !aten.t<f32[64]> to !aten.t<f32[64]>
  %a = loop.view %x offset 8 : !aten.t<f32[64]> to !aten.t<f32[16]>
  %b = loop.view %a offset 4 : !aten.t<f32[16]> to !aten.t<f32[4]>
  func.return %s, %b : !aten.t<f32[64]>, !aten.t<f32[4]> }

/// Negative twin: a view in another dtype counts its offset in other elements.
// CHECK-LABEL: func.func @bits
// CHECK-COUNT-2: loop.view
func.func @bits(%x: !aten.t<f32[64]>) -> !aten.t<i16[4]> {
  %a = loop.view %x offset 8 : !aten.t<f32[64]> to !aten.t<f32[16]>
  %b = loop.view %a offset 4 : !aten.t<f32[16]> to !aten.t<i16[4]>
  func.return %b : !aten.t<i16[4]> }
