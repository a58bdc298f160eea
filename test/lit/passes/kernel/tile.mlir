// RUN: mini-opt %s -p 'kernel-tile{block=256}' --split-input-file --print-remarks | filecheck %s
// RUN: mini-opt %s -p kernel-tile --split-input-file | filecheck %s --check-prefix=BLOCKS

/// A transposed load goes through a tile: both sides move whole lines. Long loops go by blocks of 64.
// BLOCKS-LABEL: kernel.func @transpose
// BLOCKS-NEXT:    kernel.parallel d2 : 2 {
// BLOCKS-NEXT:      kernel.parallel d3 : 4 {
// BLOCKS-NEXT:        kernel.parallel d4 : 4 {
// BLOCKS-NEXT:          %t = kernel.local reg
// CHECK-LABEL: kernel.func @transpose
// CHECK-NEXT:    kernel.parallel d2 : 4 {
// CHECK-NEXT:      kernel.parallel d3 : 8 {
// CHECK-NEXT:        %t = kernel.local reg : !kernel.buf<f32[256]>
// CHECK-NEXT:        kernel.for d1 : 16 {
// CHECK-NEXT:          kernel.parallel d0 : 16 {
// CHECK-NEXT:            %0 = kernel.load %x[d0 + 64 * d1 + 16 * d2 + 1024 * d3] : f32
// CHECK-NEXT:            kernel.store %0, %t[d0 + 16 * d1]
// CHECK:             kernel.transpose %t[16, 16]
// CHECK-NEXT:        kernel.for d0 : 16 {
// CHECK-NEXT:          kernel.parallel d1 : 16 {
// CHECK-NEXT:            %v = kernel.load %t[16 * d0 + d1] : f32
// CHECK-NEXT:            %w = scalar.neg %v : f32
// CHECK-NEXT:            kernel.store %w, %o[128 * d0 + d1 + 2048 * d2 + 16 * d3]
kernel.func @transpose(read %x : !kernel.buf<f32[8192]>, write %o : !kernel.buf<f32[8192]>) [] config {target = "cpp"} {
  parallel d0 : 64 { parallel d1 : 128 {
    %v = load %x[d0 + 64 * d1] : f32
    %w = scalar.neg %v : f32
    store %w, %o[128 * d0 + d1] } } }

// -----

/// Of two stores, the one across the vectors is staged; odd sizes end in smaller tiles.
// CHECK-LABEL: kernel.func @mismatch
// CHECK-NEXT:    kernel.parallel d2 : 7 {
// CHECK-NEXT:      kernel.parallel d3 : 4 {
// CHECK-NEXT:        %t = kernel.local reg
// CHECK-NEXT:        kernel.for d0 : min(-16 * d2 + 100, 16) {
// CHECK-NEXT:          kernel.parallel d1 : min(-16 * d3 + 50, 16) {
// CHECK-NEXT:            kernel.load %x
// CHECK:                 kernel.store %s, %o[50 * d0 + d1 + 800 * d2 + 16 * d3]
// CHECK:                 kernel.store %c, %t[16 * d0 + d1]
// CHECK:             kernel.transpose %t[16, 16]
// CHECK-NEXT:        kernel.for d1 : min(-16 * d3 + 50, 16) {
// CHECK-NEXT:          kernel.parallel d0 : min(-16 * d2 + 100, 16) {
// CHECK-NEXT:            %0 = kernel.load %t[d0 + 16 * d1] : f32
// CHECK-NEXT:            kernel.store %0, %p[d0 + 100 * d1 + 16 * d2 + 1600 * d3]
kernel.func @mismatch(read %x : !kernel.buf<f32[5000]>, write %o : !kernel.buf<f32[5000]>, write %p : !kernel.buf<f32[5000]>) [] config {target = "cpp"} {
  parallel d0 : 100 { parallel d1 : 50 {
    %v = load %x[50 * d0 + d1] : f32
    %s = scalar.sin %v : f32
    store %s, %o[50 * d0 + d1]
    %c = scalar.cos %v : f32
    store %c, %p[d0 + 100 * d1] } } }

// -----

/// Accesses that agree, and a short side, need no tile; a gather has none.
// CHECK-LABEL: kernel.func @agree
// CHECK-NEXT:    kernel.parallel d0 : 64 {
// CHECK-LABEL: kernel.func @narrow
// CHECK-NEXT:    kernel.parallel d0 : 3 {
// CHECK-LABEL: kernel.func @masked
// CHECK-NEXT:    kernel.parallel d0 : 64 {
// CHECK:       // remark: [kernel-tile] refused masked: an access that disagrees is masked or gathers
kernel.func @agree(read %x : !kernel.buf<f32[8192]>, write %o : !kernel.buf<f32[8192]>) [] config {target = "cpp"} {
  parallel d0 : 64 { parallel d1 : 128 { %v = load %x[128 * d0 + d1] : f32  store %v, %o[128 * d0 + d1] } } }
kernel.func @narrow(read %x : !kernel.buf<f32[384]>, write %o : !kernel.buf<f32[384]>) [] config {target = "cpp"} {
  parallel d0 : 3 { parallel d1 : 128 { %v = load %x[d0 + 3 * d1] : f32  store %v, %o[128 * d0 + d1] } } }
kernel.func @masked(read %x : !kernel.buf<f32[8192]>, write %o : !kernel.buf<f32[8192]>) [] config {target = "cpp"} {
  parallel d0 : 64 { parallel d1 : 128 {
    %c = scalar.within d0 in 0 to 60
    %z = scalar.constant 0.0 : f32
    %v = load %x[d0 + 64 * d1] if %c else %z : f32
    store %v, %o[128 * d0 + d1] } } }
