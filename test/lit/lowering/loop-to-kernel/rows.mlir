// RUN: mini-opt %s -p 'loop-to-kernel{least=16}' --split-input-file | filecheck %s
// RUN: mini-opt %s -p 'loop-to-kernel{least=16 room=0}' --split-input-file | filecheck %s --check-prefix=NONE
// RUN: mini-opt %s -p 'loop-to-kernel{least=16 target=triton}' --split-input-file | filecheck %s --check-prefix=NONE

/// What is dear and needed by a later stage is computed once: the row of the mean holds it for the
/// last stage. Without room, or on a GPU, it is computed again.
// CHECK-LABEL: kernel.func @cpp_fused_rows_0
// CHECK-NEXT:    kernel.parallel d0 : 64 {
// CHECK-NEXT:      %row = kernel.local stack : !kernel.buf<f32[128]>
// CHECK-NEXT:      %0 = kernel.reduce d1 : 128 [add] -> f32 {
// CHECK-NEXT:        %v = kernel.load %x[128 * d0 + d1] : f32
// CHECK-NEXT:        %e = scalar.exp %v : f32
// CHECK-NEXT:        %s = scalar.sin %e : f32
// CHECK-NEXT:        kernel.store %s, %row[d1]
// CHECK-NEXT:        kernel.yield %s : f32
// CHECK:           kernel.parallel d1 : 128 {
// CHECK-NEXT:        %s_1 = kernel.load %row[d1] : f32
// CHECK-NEXT:        %d = scalar.sub %s_1, %0 : f32
// NONE-LABEL: fused_rows_0
// NONE-NOT:     kernel.local
// NONE-COUNT-2: scalar.exp
func.func @f(%x: !aten.t<f32[64, 128]>) -> !aten.t<f32[64, 128]> {
  %g = loop.group "rows" -> !aten.t<f32[64, 128]> {
    %a = nest (d0: 64, d1: 128) -> (%o : !aten.t<f32[64, 128]>) origins ["sin"] {
      %v = load %x[d0, d1] : f32
      %e = scalar.exp %v : f32
      %s = scalar.sin %e : f32
      store %s, %o[d0, d1] }
    %b = nest (d0: 64) reduce (d1: 128) -> (%o : !aten.t<f32[64]>) origins ["sum"] {
      %v = load %a[d0, d1] : f32
      %t = reduce add %v : f32 -> f32
      store %t, %o[d0] }
    %c = nest (d0: 64, d1: 128) -> (%o : !aten.t<f32[64, 128]>) origins ["sub"] {
      %v = load %a[d0, d1] : f32
      %t = load %b[d0] : f32
      %d = scalar.sub %v, %t : f32
      store %d, %o[d0, d1] }
    yield %c }
  func.return %g : !aten.t<f32[64, 128]> }

// -----

/// Cheap values are computed again; so is a value of columns, whose row would be walked across.
// CHECK-LABEL: kernel.func @cpp_fused_columns_0
// CHECK-NOT:     kernel.local
// CHECK-COUNT-2: scalar.sin
// NONE-LABEL: fused_columns_0
func.func @g(%x: !aten.t<f32[64, 128]>) -> !aten.t<f32[128, 64]> {
  %g = loop.group "columns" -> !aten.t<f32[128, 64]> {
    %a = nest (d0: 128, d1: 64) -> (%o : !aten.t<f32[128, 64]>) origins ["sin"] {
      %v = load %x[d1, d0] : f32
      %e = scalar.exp %v : f32
      %s = scalar.sin %e : f32
      store %s, %o[d0, d1] }
    %b = nest (d0: 128) reduce (d1: 64) -> (%o : !aten.t<f32[128]>) origins ["sum"] {
      %v = load %a[d0, d1] : f32
      %t = reduce add %v : f32 -> f32
      store %t, %o[d0] }
    %c = nest (d0: 128, d1: 64) -> (%o : !aten.t<f32[128, 64]>) origins ["sub"] {
      %v = load %a[d0, d1] : f32
      %t = load %b[d0] : f32
      %d = scalar.sub %v, %t : f32
      store %d, %o[d0, d1] }
    yield %c }
  func.return %g : !aten.t<f32[128, 64]> }
