// RUN: mini-opt %s -t wrapper | filecheck %s

/// Extern calls: an out= form writes planned memory (constants are bound at the head), results are
/// held to their promised layout if anything reads them, aliases may not be copied, written operands stay themselves.

// CHECK-DAG: aten_addmm_into = host.extern_into("aten.addmm.default", tensors=3, beta=1, alpha=0.5)
// CHECK-DAG: aten_cumsum_into = host.extern_into("aten.cumsum.default", dtype=torch.float32)
// CHECK-DAG: aten_sort = host.extern("aten.sort.default", results=2)
// CHECK-DAG: promised = host.result(("the result of aten.sort.default", torch.float32, "cpu", (4, 4), (4, 1)))
// CHECK-DAG: aten__to_copy = host.extern("aten._to_copy.default")
// CHECK-DAG: promised_2 = host.alias(("the result of aten.expand.default", torch.float32, "cpu", (2, 4, 4), (0, 4, 1)))
// CHECK-DAG: minductor_seed = host.extern("minductor.seed")
// CHECK-DAG: aten_copy_ = host.extern("aten.copy_.default", results=0)

// CHECK:     aten_addmm_into(buf, b, x, x)
// CHECK-NEXT:     aten_cumsum_into(buf, x, 1)
// CHECK-NEXT:     values, places = aten_sort(buf, -1, True)
// CHECK-NEXT:     values = promised(values)
// CHECK-NEXT:     c = aten__to_copy(x, dtype=torch.float64, device=torch.device("cpu"), memory_format=torch.contiguous_format)
// CHECK-NEXT:     c = promised_1(c)
// CHECK-NEXT:     e = aten_expand(x, [2, 4, 4])
// CHECK-NEXT:     e = promised_2(e)
// CHECK-NEXT:     seed = minductor_seed(device=torch.device("cpu"))
// CHECK-NEXT:     aten_copy_(x, buf)
// CHECK-NEXT:     odd = test_odd([x, None, b], float("inf"), 'text', complex(1.0, -0.0))
// CHECK:     return [values, x, c, e]
func.func @call(%x: !aten.t<f32[4, 4]>, %b: !aten.t<f32[4]>) -> (!aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f64[4, 4]>, !aten.t<f32[2, 4, 4]:[0, 4, 1]>) {
  %buf = kernel.alloc : !aten.t<f32[4, 4]>
  kernel.extern "aten.addmm.default"(%b, %x, %buf) args [#loop.arg<0>, #loop.arg<1>, #loop.arg<1>] kwargs {beta = 1 : i64, alpha = 0.5 : f64} {out} : (!aten.t<f32[4]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>) -> ()
  kernel.extern "aten.cumsum.default"(%x, %buf) args [#loop.arg<0>, 1 : i64] kwargs {dtype = #aten.dtype<f32>} {out} : (!aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>) -> ()
  %values, %places = kernel.extern "aten.sort.default"(%buf) args [#loop.arg<0>, -1 : i64, true] : (!aten.t<f32[4, 4]>) -> (!aten.t<f32[4, 4]>, !aten.t<i64[4, 4]>)
  %c = kernel.extern "aten._to_copy.default"(%x) args [#loop.arg<0>] kwargs {dtype = #aten.dtype<f64>, device = #aten.device<"cpu">, memory_format = #aten.enum<"contiguous_format">} : (!aten.t<f32[4, 4]>) -> !aten.t<f64[4, 4]>
  %e = kernel.extern "aten.expand.default"(%x) args [#loop.arg<0>, #loop.index<[2, 4, 4]>] {aliases = [#loop.index<[0, 0]>]} : (!aten.t<f32[4, 4]>) -> !aten.t<f32[2, 4, 4]:[0, 4, 1]>
  %seed = kernel.extern "minductor.seed"() args [] kwargs {device = #aten.device<"cpu">} {random} : () -> !aten.t<i64[1]>
  kernel.extern "aten.copy_.default"(%x, %buf) args [#loop.arg<0>, #loop.arg<1>] {mutates = #loop.index<[0]>} : (!aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>) -> ()
  %odd = kernel.extern "test.odd.default"(%x, %b) args [[#loop.arg<0>, #aten.none, #loop.arg<1>], 0x7FF0000000000000 : f64, "text", #aten.complex<1.0, -0.0>] : (!aten.t<f32[4, 4]>, !aten.t<f32[4]>) -> !aten.t<f32[4]>
  kernel.free %buf
  func.return %values, %x, %c, %e : !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f64[4, 4]>, !aten.t<f32[2, 4, 4]:[0, 4, 1]>
}
