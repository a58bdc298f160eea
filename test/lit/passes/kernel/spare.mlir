// RUN: mini-opt %s -p kernel-inplace,kernel-spare --print-remarks --split-input-file | filecheck %s

/// Rows that keep their values are neither read nor written: the ledger has what is left.
// CHECK:      kernel.func @rows{{.*}} bytes <floor 32, unfused 3104, planned 32>
// CHECK:        %[[C:.*]] = scalar.lt
// CHECK:        %[[N:.*]] = scalar.not %[[C]] : i1
// CHECK-NOT:    kernel.load %x
// CHECK:        kernel.store %{{.*}}, %x[64 * d0 + d1] if %[[N]]
// CHECK:      accepted rows: what stays is neither read nor written
kernel.func @fill(write %o : !kernel.buf<bf16[512]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 512 <run grid, lanes 64, tail none> { %v = scalar.constant 1.0 : bf16  store %v, %o[d0] } }
kernel.func @rows(read %x : !kernel.buf<bf16[512]>, read %l : !kernel.buf<f32[8]>, write %o : !kernel.buf<bf16[512]>) [] config {target = "triton", warps = 4, index = "i32"} bytes <floor 2080, unfused 3104, planned 2080> {
  parallel d0 : 8 <run grid> { parallel d1 : 64 <run grid, lanes 64, tail none> {
    %a = load %l[d0] : f32  %b = scalar.constant 2.0 : f32  %c = scalar.lt %a, %b : f32
    %v = load %x[64 * d0 + d1] : bf16  %w = scalar.cast %v : bf16 to f32
    %s = scalar.select %c, %w, %b : f32  %r = scalar.cast %s storage : f32 to bf16
    store %r, %o[64 * d0 + d1] } } }
func.func @call(%l: !aten.t<f32[8]@cuda>) -> !aten.t<bf16[512]@cuda> {
  %a = kernel.alloc : !aten.t<bf16[512]@cuda>
  kernel.launch @fill(%a)[]
  %b = kernel.alloc : !aten.t<bf16[512]@cuda>
  kernel.launch @rows(%a, %l, %b)[]
  func.return %b : !aten.t<bf16[512]@cuda>
}

// -----

/// Negative twin: each element has a condition of its own.
// CHECK:      kernel.func @each
// CHECK:        kernel.load %x
// CHECK:      refused each: neighbours in memory may differ in whether they change
kernel.func @fill(write %o : !kernel.buf<f32[512]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 512 <run grid, lanes 64, tail none> { %v = scalar.constant 1.0 : f32  store %v, %o[d0] } }
kernel.func @each(read %x : !kernel.buf<f32[512]>, read %l : !kernel.buf<f32[512]>, write %o : !kernel.buf<f32[512]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 512 <run grid, lanes 64, tail none> {
    %a = load %l[d0] : f32  %b = scalar.constant 2.0 : f32  %c = scalar.lt %a, %b : f32
    %v = load %x[d0] : f32  %s = scalar.select %c, %v, %b : f32
    store %s, %o[d0] } }
func.func @call(%l: !aten.t<f32[512]@cuda>) -> !aten.t<f32[512]@cuda> {
  %a = kernel.alloc : !aten.t<f32[512]@cuda>
  kernel.launch @fill(%a)[]
  %b = kernel.alloc : !aten.t<f32[512]@cuda>
  kernel.launch @each(%a, %l, %b)[]
  func.return %b : !aten.t<f32[512]@cuda>
}

// -----

/// A program that has little left to do takes more rows; not where few programs would be left.
// CHECK:      kernel.func @many
// CHECK:        kernel.parallel d0 : 65536 <run grid, lanes 128, tail none>
// CHECK:      kernel.func @few
// CHECK:        kernel.parallel d0 : 512 <run grid, lanes 16, tail none>
kernel.func @many(update %x : !kernel.buf<f32[4194304]>, read %l : !kernel.buf<f32[65536]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 65536 <run grid, lanes 16, tail none> { parallel d1 : 64 <run grid, lanes 64, tail none> {
    %a = load %l[d0] : f32  %b = scalar.constant 2.0 : f32  %c = scalar.lt %a, %b : f32
    %v = load %x[64 * d0 + d1] : f32  %s = scalar.select %c, %v, %b : f32
    store %s, %x[64 * d0 + d1] } } }
kernel.func @few(update %x : !kernel.buf<f32[32768]>, read %l : !kernel.buf<f32[512]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 512 <run grid, lanes 16, tail none> { parallel d1 : 64 <run grid, lanes 64, tail none> {
    %a = load %l[d0] : f32  %b = scalar.constant 2.0 : f32  %c = scalar.lt %a, %b : f32
    %v = load %x[64 * d0 + d1] : f32  %s = scalar.select %c, %v, %b : f32
    store %s, %x[64 * d0 + d1] } } }
