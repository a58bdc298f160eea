// RUN: mini-opt %s -p 'kernel-turn{held=4096 least=1024}' --print-remarks --split-input-file | filecheck %s
// RUN: mini-opt %s -p 'kernel-turn{turn=false}' --split-input-file | filecheck %s --check-prefix=OFF
// RUN: mini-opt %s -p 'kernel-turn{held=4096 least=1024}' -t triton --split-input-file | filecheck %s --check-prefix=TRITON

/// The end of %x lies in the cache when @scale begins: it begins there, and lets go what it reads
/// for the last time and what it stores. The sums are read by all programs.
// CHECK:      kernel.func @sums{{.*}} config {target = "triton", warps = 4, index = "i32"}
// CHECK:      kernel.func @scale{{.*}} config {target = "triton", warps = 4, index = "i32", begin = "last"}
// CHECK:        kernel.load %x[1024 * d0 + d1] {evict = "first"}
// CHECK:        kernel.load %t[d1] : f32
// CHECK:        kernel.store %{{.*}}, %y[1024 * d0 + d1] {evict = "first"}
// CHECK:      accepted scale: begins at the end
// OFF-NOT:    begin
// OFF-NOT:    evict
// TRITON:     def scale(
// TRITON-NEXT:    pid = (tl.num_programs(0) - 1 - tl.program_id(0))
// TRITON:         tl.store(y + {{.*}}, eviction_policy="evict_first")
kernel.func @sums(read %x : !kernel.buf<f32[8192]>, write %t : !kernel.buf<f32[1024]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 8 <run grid> { tile d1 : 1024 <lanes 1024, tail none> {
    %v = load %x[1024 * d0 + d1] : f32  %s = fold add %v over d1 : f32 -> f32  store %s, %t[d0] } } }
kernel.func @scale(read %x : !kernel.buf<f32[8192]>, read %t : !kernel.buf<f32[1024]>, write %y : !kernel.buf<f32[8192]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 8 <run grid> { parallel d1 : 1024 <run grid, lanes 1024, tail none> {
    %v = load %x[1024 * d0 + d1] : f32  %s = load %t[d1] : f32  %w = scalar.mul %v, %s : f32
    store %w, %y[1024 * d0 + d1] } } }
func.func @call(%x: !aten.t<f32[8192]@cuda>) -> !aten.t<f32[8192]@cuda> {
  %t = kernel.alloc : !aten.t<f32[1024]@cuda>
  kernel.launch @sums(%x, %t)[]
  %y = kernel.alloc : !aten.t<f32[8192]@cuda>
  kernel.launch @scale(%x, %t, %y)[]
  func.return %y : !aten.t<f32[8192]@cuda>
}

// -----

/// Negative twins: what fits whole is found from either end; columns are walked by all programs at
/// once; a kernel that two launches share would have to turn for both; a walk that has turned has
/// left the beginning.
// CHECK:      kernel.func @fits{{.*}} index = "i32"} {
// CHECK:      kernel.func @columns{{.*}} index = "i32"} {
// CHECK:      kernel.func @there{{.*}} index = "i32", begin = "last"} {
// CHECK:      kernel.func @back{{.*}} index = "i32"} {
// CHECK-NOT:  evict
// CHECK:      accepted there
// CHECK-NOT:  accepted
kernel.func @fits(read %x : !kernel.buf<f32[256]>, write %y : !kernel.buf<f32[256]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 256 <run grid, lanes 64, tail none> { %v = load %x[d0] : f32  store %v, %y[d0] } }
kernel.func @columns(read %x : !kernel.buf<f32[8192]>, write %t : !kernel.buf<f32[64]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 64 <run grid, lanes 16, tail none> { %s = reduce d1 : 128 <lanes 16, tail none> [add] -> f32 {
    %v = load %x[64 * d1 + d0] : f32  yield %v : f32 }  store %s, %t[d0] } }
kernel.func @there(read %x : !kernel.buf<f32[8192]>, write %y : !kernel.buf<f32[64]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 64 <run grid> { tile d1 : 128 <lanes 128, tail none> {
    %v = load %x[128 * d0 + d1] : f32  %s = fold max %v over d1 : f32 -> f32  store %s, %y[d0] } } }
kernel.func @back(read %x : !kernel.buf<f32[8192]>, write %y : !kernel.buf<f32[64]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 64 <run grid> { tile d1 : 128 <lanes 128, tail none> {
    %v = load %x[128 * d0 + d1] : f32  %s = fold min %v over d1 : f32 -> f32  store %s, %y[d0] } } }
func.func @call(%x: !aten.t<f32[8192]@cuda>, %z: !aten.t<f32[256]@cuda>) -> !aten.t<f32[64]@cuda> {
  %a = kernel.alloc : !aten.t<f32[256]@cuda>
  kernel.launch @fits(%z, %a)[]
  %b = kernel.alloc : !aten.t<f32[256]@cuda>
  kernel.launch @fits(%a, %b)[]
  %t = kernel.alloc : !aten.t<f32[64]@cuda>
  kernel.launch @columns(%x, %t)[]
  kernel.launch @columns(%x, %t)[]
  %c = kernel.alloc : !aten.t<f32[64]@cuda>
  kernel.launch @there(%x, %c)[]
  %d = kernel.alloc : !aten.t<f32[64]@cuda>
  kernel.launch @back(%x, %d)[]
  func.return %d : !aten.t<f32[64]@cuda>
}
