// RUN: mini-opt %s -p kernel-order --print-remarks | filecheck %s

kernel.func @big(read %x : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[1024]>) [] config {target = "cpp"} {
  parallel d0 : 1024 { %v = load %x[d0] : f32  store %v, %o[d0] } }
kernel.func @first(read %x : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[1]>) [] config {target = "cpp"} {
  %v = load %x[0] : f32  store %v, %o[0] }
kernel.func @over(read %x : !kernel.buf<f32[1024]>, update %o : !kernel.buf<f32[1024]>) [] config {target = "cpp"} {
  parallel d0 : 1024 { %v = load %x[d0] : f32  store %v, %o[d0] } }

/// The first large buffer is used up before the second is made.
// CHECK-LABEL: func.func @call
// CHECK:         kernel.launch @big(%x, %a)[]
// CHECK-NEXT:    %c = kernel.alloc
// CHECK-NEXT:    kernel.launch @first(%a, %c)[]
// CHECK-NEXT:    %b = kernel.alloc
// CHECK-NEXT:    kernel.launch @big(%y, %b)[]
// CHECK:         kernel.launch @first(%b, %d)[]
/// What only the results need stands behind all that it shows.
// CHECK-NEXT:    %e = kernel.reinterpret %d offset 0
func.func @call(%x: !aten.t<f32[1024]>, %y: !aten.t<f32[1024]>) -> (!aten.t<f32[1]>, !aten.t<f32[]>) {
  %a = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @big(%x, %a)[]
  %b = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @big(%y, %b)[]
  %c = kernel.alloc : !aten.t<f32[1]>
  kernel.launch @first(%a, %c)[]
  %d = kernel.alloc : !aten.t<f32[1]>
  kernel.launch @first(%b, %d)[]
  %e = kernel.reinterpret %d offset 0 : !aten.t<f32[1]> to !aten.t<f32[]>
  func.return %c, %e : !aten.t<f32[1]>, !aten.t<f32[]>
}

/// Negative twin: what reads a buffer after it is overwritten stays after that.
// CHECK-LABEL: func.func @kept
// CHECK:         kernel.launch @big(%x, %a)[]
// CHECK:         kernel.launch @big(%y, %b)[]
// CHECK:         kernel.launch @over(%b, %a)[]
// CHECK:         kernel.launch @first(%a, %c)[]
func.func @kept(%x: !aten.t<f32[1024]>, %y: !aten.t<f32[1024]>) -> (!aten.t<f32[1]>, !aten.t<f32[1]>) {
  %a = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @big(%x, %a)[]
  %b = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @big(%y, %b)[]
  kernel.launch @over(%b, %a)[]
  %c = kernel.alloc : !aten.t<f32[1]>
  kernel.launch @first(%a, %c)[]
  %d = kernel.alloc : !aten.t<f32[1]>
  kernel.launch @first(%b, %d)[]
  func.return %c, %d : !aten.t<f32[1]>, !aten.t<f32[1]>
}
// CHECK: // remark: [kernel-order] accepted call: the peak falls from 8196 to 4104 {bytes = 4092}
