// RUN: mini-opt %s -p kernel-stream --split-input-file | filecheck %s
// RUN: mini-opt %s -p 'kernel-stream{stream=0}' --split-input-file | filecheck %s --check-prefix=OFF
// RUN: mini-opt %s -p kernel-stream --split-input-file -t cpp | filecheck %s --check-prefix=CPP

/// A result of 12 MiB that is only returned is stored past the caches; one of 8 MiB is not.
// OFF-NOT: {nt}
// CHECK-LABEL: kernel.func @large
// CHECK:         kernel.store %v, %o[d0] {nt}
// CHECK-LABEL: kernel.func @small
// CHECK:         kernel.store %v, %o[d0]{{$}}
kernel.func @large(read %x : !kernel.buf<f32[3145728]>, write %o : !kernel.buf<f32[3145728]>) [] config {target = "cpp", threads = 2} {
  parallel d0 : 3145728 <run threads, lanes 16, unroll 4, tail none> { %v = load %x[d0] : f32  store %v, %o[d0] } }
kernel.func @small(read %x : !kernel.buf<f32[2097152]>, write %o : !kernel.buf<f32[2097152]>) [] config {target = "cpp", threads = 2} {
  parallel d0 : 2097152 <run threads, lanes 16, unroll 4, tail none> { %v = load %x[d0] : f32  store %v, %o[d0] } }
func.func @call(%x: !aten.t<f32[3145728]>, %y: !aten.t<f32[2097152]>) -> (!aten.t<f32[3145728]>, !aten.t<f32[2097152]>) {
  %a = kernel.alloc : !aten.t<f32[3145728]>
  kernel.launch @large(%x, %a)[]
  %b = kernel.alloc : !aten.t<f32[2097152]>
  kernel.launch @small(%y, %b)[]
  func.return %a, %b : !aten.t<f32[3145728]>, !aten.t<f32[2097152]>
}

// -----

/// Negative twins: a later kernel reads the result; the kernel reads back what a stage kept; lanes
/// do not run along memory.
// CHECK-LABEL: kernel.func @read_later
// CHECK-NOT:   {nt}
kernel.func @read_later(read %x : !kernel.buf<f32[4194304]>, write %o : !kernel.buf<f32[4194304]>) [] config {target = "cpp", threads = 2} {
  parallel d0 : 4194304 <run threads, lanes 16, tail none> { %v = load %x[d0] : f32  store %v, %o[d0] } }
kernel.func @kept(read %x : !kernel.buf<f32[4194304]>, write %o : !kernel.buf<f32[4194304]>) [] config {target = "cpp", threads = 2} {
  parallel d0 : 4096 <run threads> {
    parallel d1 : 1024 <lanes 16, tail none> { %v = load %x[1024 * d0 + d1] : f32  store %v, %o[1024 * d0 + d1] }
    parallel d2 : 1024 <lanes 16, tail none> { %w = load %o[1024 * d0 + d2] : f32  store %w, %o[1024 * d0 + d2] } } }
kernel.func @across(read %x : !kernel.buf<f32[4194304]>, write %o : !kernel.buf<f32[4194304]>) [] config {target = "cpp", threads = 2} {
  parallel d0 : 4096 <run threads> {
    parallel d1 : 1024 <lanes 16, tail none> { %v = load %x[1024 * d0 + d1] : f32  store %v, %o[d0 + 4096 * d1] } } }
func.func @call(%x: !aten.t<f32[4194304]>) -> (!aten.t<f32[4194304]>, !aten.t<f32[4194304]>) {
  %a = kernel.alloc : !aten.t<f32[4194304]>
  kernel.launch @read_later(%x, %a)[]
  %b = kernel.alloc : !aten.t<f32[4194304]>
  kernel.launch @kept(%a, %b)[]
  %c = kernel.alloc : !aten.t<f32[4194304]>
  kernel.launch @across(%x, %c)[]
  func.return %b, %c : !aten.t<f32[4194304]>, !aten.t<f32[4194304]>
}

// -----

/// Rows of transposed tiles of 8 MiB, which are whole lines; not so those of half a line.
// CHECK-LABEL: kernel.func @tiles
// CHECK:         kernel.store %v, %o[16 * d0 + 4096 * d1 + d2] {nt}
// CHECK-LABEL: kernel.func @halves
// CHECK-NOT:   {nt}
// CHECK-LABEL: func.func @call
// OFF-NOT:     {nt}
// CPP:         static int tiles_body
// CPP:           st_nt(L, o
// CPP:           fence();
kernel.func @tiles(read %x : !kernel.buf<f32[2097152]>, write %o : !kernel.buf<f32[2097152]>) [] config {target = "cpp"} {
  parallel d0 : 256 {
    for d1 : 512 { parallel d2 : 16 <lanes 16, tail none> {
      %v = load %x[16 * d0 + 4096 * d1 + d2] : f32  store %v, %o[16 * d0 + 4096 * d1 + d2] } } } }
kernel.func @halves(read %x : !kernel.buf<f32[2097152]>, write %o : !kernel.buf<f32[2097152]>) [] config {target = "cpp"} {
  parallel d0 : 512 {
    for d1 : 512 { parallel d2 : 8 <lanes 8, tail none> {
      %v = load %x[8 * d0 + 4096 * d1 + d2] : f32  store %v, %o[8 * d0 + 4096 * d1 + d2] } } } }
func.func @call(%x: !aten.t<f32[2097152]>) -> (!aten.t<f32[2097152]>, !aten.t<f32[2097152]>) {
  %a = kernel.alloc : !aten.t<f32[2097152]>
  kernel.launch @tiles(%x, %a)[]
  %b = kernel.alloc : !aten.t<f32[2097152]>
  kernel.launch @halves(%x, %b)[]
  func.return %a, %b : !aten.t<f32[2097152]>, !aten.t<f32[2097152]>
}
