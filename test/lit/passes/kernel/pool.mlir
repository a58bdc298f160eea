// RUN: mini-opt %s -p kernel-pool --split-input-file | filecheck %s
// RUN: mini-opt %s -p 'kernel-pool{pool=0}' --split-input-file | filecheck %s --check-prefix=OFF

/// Buffers of 2 MiB and more are marked, by storage and not by element count; sizes known at run
/// time count at their hints.

// OFF-NOT: {pool}

// CHECK:      %big = kernel.alloc {pool} : !aten.t<f32[256, 2048]>
// CHECK-NEXT: %wide = kernel.alloc {pool} : !aten.t<f64[256, 1024]>
// CHECK-NEXT: %row = kernel.alloc : !aten.t<f32[4096, 4096]:[0, 1]>
// CHECK-NEXT: %dyn = kernel.alloc {pool} : !aten.t<f32[s0, 2048]>
func.func @call(%n: !aten.int<s0>) attributes {symbols = #aten.symbols<s0 = [hint 256, min 2]>} {
  %big = kernel.alloc : !aten.t<f32[256, 2048]>
  %wide = kernel.alloc : !aten.t<f64[256, 1024]>
  %row = kernel.alloc : !aten.t<f32[4096, 4096]:[0, 1]>
  %dyn = kernel.alloc : !aten.t<f32[s0, 2048]>
  func.return
}

// -----

/// One element less, another device, a size nobody hinted: left alone.

// CHECK:      %less = kernel.alloc : !aten.t<f32[524287]>
// CHECK-NEXT: %gpu = kernel.alloc : !aten.t<f32[4096, 4096]@cuda>
// CHECK-NEXT: %u = kernel.alloc : !aten.t<f32[u0, 4096]>
func.func @call(%n: !aten.int<u0>) attributes {symbols = #aten.symbols<u0 = [min 0]>} {
  %less = kernel.alloc : !aten.t<f32[524287]>
  %gpu = kernel.alloc : !aten.t<f32[4096, 4096]@cuda>
  %u = kernel.alloc : !aten.t<f32[u0, 4096]>
  func.return
}
