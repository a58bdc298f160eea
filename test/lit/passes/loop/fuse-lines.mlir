// RUN: mini-opt %s --split-input-file -p 'loop-fuse{machine=cpu}' | filecheck %s
// RUN: mini-opt %s --split-input-file -p 'loop-fuse{machine=h200}' | filecheck %s --check-prefix=H200

/// A column sum takes neighbouring columns in blocks: lines are used whole, however long the column.

// CHECK-LABEL: func.func @columns
// CHECK:         bytes <floor 268436480, unfused 268436480, planned 268436480>
// H200-LABEL:  func.func @columns
// H200:          planned 268436480>
func.func @columns(%x: !aten.t<f32[262144, 256]>) -> !aten.t<f32[256]> {
  %v = loop.nest (d0: 256) reduce (d1: 262144) -> (%o : !aten.t<f32[256]>) origins ["sum"] {
    %a = load %x[d1, d0] : f32
    %t = reduce add %a : f32 -> f32
    store %t, %o[d0] }
  func.return %v : !aten.t<f32[256]> }

// -----

/// Every second element fetches all lines; both halves together no more than the whole.

// CHECK-LABEL: func.func @halves
// CHECK:         bytes <floor 8388608, unfused 8388608, planned 12582912>
// CHECK:         bytes <floor 12582912, unfused 12582912, planned 12582912>
func.func @halves(%x: !aten.t<f32[2097152]>, %y: !aten.t<f32[2097152]>) -> (!aten.t<f32[1048576]>, !aten.t<f32[1048576]>) {
  %v = loop.nest (d0: 1048576) -> (%o : !aten.t<f32[1048576]>) origins ["even"] {
    %a = load %x[2 * d0] : f32
    store %a, %o[d0] }
  %w = loop.nest (d0: 1048576) -> (%o : !aten.t<f32[1048576]>) origins ["both"] {
    %a = load %y[2 * d0] : f32
    %b = load %y[2 * d0 + 1] : f32
    %c = scalar.add %a, %b : f32
    store %c, %o[d0] }
  func.return %v, %w : !aten.t<f32[1048576]>, !aten.t<f32[1048576]> }

// -----

/// Single elements out of a row of 4 KiB fetch the row once. Negative twin: out of a table of 1 GiB
/// each is a line of its own.

// CHECK-LABEL: func.func @gathers
// CHECK:         planned 16777216>
// CHECK:         planned 79691776>
// H200-LABEL:  func.func @gathers
// H200:          planned 46137344>
func.func @gathers(%x: !aten.t<f32[1024, 1024]>, %i: !aten.t<i64[1024, 1024]>, %j: !aten.t<i64[1024, 1024]>, %t: !aten.t<f32[268435456]>) -> (!aten.t<f32[1024, 1024]>, !aten.t<f32[1024, 1024]>) {
  %v = loop.nest (d0: 1024, d1: 1024) -> (%o : !aten.t<f32[1024, 1024]>) origins ["row"] {
    %k = load %i[d0, d1] : i64
    %n = scalar.bound %k to 1024
    %a = load %x[d0, %n] : f32
    store %a, %o[d0, d1] }
  %w = loop.nest (d0: 1024, d1: 1024) -> (%o : !aten.t<f32[1024, 1024]>) origins ["table"] {
    %k = load %j[d0, d1] : i64
    %n = scalar.bound %k to 268435456
    %a = load %t[%n] : f32
    store %a, %o[d0, d1] }
  func.return %v, %w : !aten.t<f32[1024, 1024]>, !aten.t<f32[1024, 1024]> }
