// RUN: mini-opt %s -p kernel-wait --print-remarks | filecheck %s
// RUN: mini-opt %s -p kernel-wait{late=false} | filecheck %s --check-prefix OFF

kernel.func @exp(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 { %v = load %x[d0] : f32  %e = scalar.exp %v : f32  store %e, %o[d0] } }

/// The other kernel runs while the data travel; what only shows the result moves with the wait.
// CHECK-LABEL: func.func @call
// CHECK:         %r = kernel.extern "_c10d_functional.all_reduce.default"(%x)
// CHECK-NEXT:    %a = kernel.alloc
// CHECK-NEXT:    kernel.launch @exp(%y, %a)[]
// CHECK-NEXT:    %b = kernel.alloc
// CHECK-NEXT:    %w = kernel.extern "_c10d_functional.wait_tensor.default"(%r, %x)
// CHECK-NEXT:    %v = kernel.reinterpret %w offset 0
// CHECK-NEXT:    kernel.launch @exp(%v, %b)[]
// OFF-LABEL:   func.func @call
// OFF:           "_c10d_functional.all_reduce.default"
// OFF-NEXT:      "_c10d_functional.wait_tensor.default"
func.func @call(%x: !aten.t<f32[8, 8]>, %y: !aten.t<f32[64]>) -> (!aten.t<f32[64]>, !aten.t<f32[64]>) {
  %r = kernel.extern "_c10d_functional.all_reduce.default"(%x) args [#loop.arg<0>, "sum", "0"] {ordered} : (!aten.t<f32[8, 8]>) -> !aten.t<f32[8, 8]>
  %w = kernel.extern "_c10d_functional.wait_tensor.default"(%r, %x) args [#loop.arg<0>] {aliases = [#loop.index<[0, 0]>], ordered} : (!aten.t<f32[8, 8]>, !aten.t<f32[8, 8]>) -> !aten.t<f32[8, 8]>
  %v = kernel.reinterpret %w offset 0 : !aten.t<f32[8, 8]> to !aten.t<f32[64]>
  %a = kernel.alloc : !aten.t<f32[64]>
  kernel.launch @exp(%y, %a)[]
  %b = kernel.alloc : !aten.t<f32[64]>
  kernel.launch @exp(%v, %b)[]
  func.return %a, %b : !aten.t<f32[64]>, !aten.t<f32[64]>
}

/// Negative twin: what the collective reads is written next, so the wait comes first.
// CHECK-LABEL: func.func @kept
// CHECK:         "_c10d_functional.all_gather_into_tensor.default"
// CHECK-NEXT:    "_c10d_functional.wait_tensor.default"(%r, %a)
// CHECK-NEXT:    kernel.launch @exp(%y, %a)[]
func.func @kept(%y: !aten.t<f32[64]>) -> (!aten.t<f32[128]>, !aten.t<f32[64]>) {
  %a = kernel.alloc : !aten.t<f32[64]>
  kernel.launch @exp(%y, %a)[]
  %r = kernel.extern "_c10d_functional.all_gather_into_tensor.default"(%a) args [#loop.arg<0>, 2, "0"] {ordered} : (!aten.t<f32[64]>) -> !aten.t<f32[128]>
  %w = kernel.extern "_c10d_functional.wait_tensor.default"(%r, %a) args [#loop.arg<0>] {aliases = [#loop.index<[0, 0]>], ordered} : (!aten.t<f32[128]>, !aten.t<f32[64]>) -> !aten.t<f32[128]>
  kernel.launch @exp(%y, %a)[]
  func.return %w, %a : !aten.t<f32[128]>, !aten.t<f32[64]>
}

// CHECK: // remark: [kernel-wait] accepted call: passes 1 step up to the first use
// CHECK: // remark: [kernel-wait] refused kept: stays before a write to memory that is in use
