// RUN: mini-opt %s -p 'kernel-blocks,kernel-autotune{autotune=fast}' --print-remarks | filecheck %s
// RUN: mini-opt %s -p 'kernel-blocks,kernel-autotune{autotune=max}' | filecheck %s --check-prefix=MAX
// RUN: mini-opt %s -p 'kernel-blocks,kernel-autotune' | filecheck %s --check-prefix=OFF
// RUN: not mini-opt %s -p 'kernel-blocks,kernel-autotune{autotune=slow}' 2>&1 | filecheck %s --check-prefix=ERROR

/// The rules' choice first, then larger blocks; rows get other warps. Launches keep their names.
// CHECK-LABEL: kernel.func @points.0
// CHECK:         lanes 1024
// CHECK-LABEL: kernel.func @points.1
// CHECK-SAME:    warps = 4
// CHECK:         lanes 2048
// CHECK-LABEL: kernel.func @points.2
// CHECK-SAME:    warps = 8
// CHECK:       kernel.variants @points [@points.0, @points.1, @points.2]
// CHECK:       kernel.variants @rows [@rows.0, @rows.1, @rows.2]
// CHECK-NOT:   @small.0
// CHECK:       // remark: [kernel-autotune] refused small: it moves 8192 bytes only
// MAX:         kernel.variants @points [@points.0, @points.1, @points.2, @points.3, @points.4, @points.5]
// OFF-NOT:     kernel.variants
// ERROR:       autotune is off, fast, max, not 'slow'
kernel.func @points(read %x : !kernel.buf<f32[4194304]>, write %o : !kernel.buf<f32[4194304]>) [] config {target = "triton"} bytes <floor 33554432, unfused 33554432, planned 33554432> {
  parallel d0 : 4194304 { %v = load %x[d0] : f32  store %v, %o[d0] } }
kernel.func @rows(read %x : !kernel.buf<f32[4194304]>, write %o : !kernel.buf<f32[4096]>) [] config {target = "triton"} bytes <floor 16793600, unfused 16793600, planned 16793600> {
  parallel d0 : 4096 { tile d1 : 1024 {
    %a = load %x[1024 * d0 + d1] : f32  %m = fold max %a over d1 : f32 -> f32  store %m, %o[d0] } } }
kernel.func @small(read %x : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[1024]>) [] config {target = "triton"} bytes <floor 8192, unfused 8192, planned 8192> {
  parallel d0 : 1024 { %v = load %x[d0] : f32  store %v, %o[d0] } }
