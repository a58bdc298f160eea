// RUN: mini-opt %s -t wrapper --split-input-file | filecheck %s

/// Sizes are Python ints: arguments that are a symbol take its name, expressions print with // and
/// %, and the check is handed what its layouts hold as text.

// CHECK:          ("x", torch.bfloat16, "cpu", ("s0", "2 * s1"), ("2 * s1", 1)),
// CHECK:          s0, s1, x = args
// CHECK-NEXT:     args.clear()
// CHECK-NEXT:     check_inputs(x, s0, 2 * s1)
// CHECK-NEXT:     buf = empty_cpu((s1 * s0,), (1,), torch.bool)
// CHECK-NEXT:     k(x, buf, s0, s1)
// CHECK-NEXT:     n = ((s0 + 3) // 4) + min(s0, s1) + (s1 % 8)
// CHECK-NEXT:     return [buf, n, s0]
kernel.func @k(read %x : !kernel.buf<bf16[2 * s0 * s1]>, write %o : !kernel.buf<bool[s0 * s1]>) [s0, s1] config {target = "cpp"} {
}
func.func @call(%a: !aten.int<s0>, %b: !aten.int<s1>, %x: !aten.t<bf16[s0, 2 * s1]>) -> (!aten.t<bool[s0 * s1]>, !aten.int<(s0 + 3) floordiv 4 + s1 mod 8 + min(s0, s1)>, !aten.int<s0>) attributes {symbols = #aten.symbols<s0 = [hint 8, min 2], s1 = [hint 8, min 2]>} {
  kernel.check %x : !aten.t<bf16[s0, 2 * s1]>
  %buf = kernel.alloc : !aten.t<bool[s0 * s1]>
  kernel.launch @k(%x, %buf)[s0, s1]
  %n = kernel.size : !aten.int<(s0 + 3) floordiv 4 + s1 mod 8 + min(s0, s1)>
  %m = kernel.size : !aten.int<s0>
  func.return %buf, %n, %m : !aten.t<bool[s0 * s1]>, !aten.int<(s0 + 3) floordiv 4 + s1 mod 8 + min(s0, s1)>, !aten.int<s0>
}

// -----

/// A symbol that no number binds is read off the first tensor that has it as a size; an unbacked
/// one is bound where its value appears.

// CHECK:          (x,) = args
// CHECK-NEXT:     args.clear()
// CHECK-NEXT:     s0 = x.size(1)
// CHECK-NEXT:     check_inputs(x, s0)
// CHECK-NEXT:     u0 = aten__local_scalar_dense(x)
// CHECK-NEXT:     buf = empty_cpu((u0, s0), (s0, 1), torch.float32)
func.func @call(%x: !aten.t<i64[1, s0]>) -> !aten.t<f32[u0, s0]> attributes {symbols = #aten.symbols<s0 = [hint 8, min 2], u0 = [min 0]>} {
  kernel.check %x : !aten.t<i64[1, s0]>
  %n = kernel.extern "aten._local_scalar_dense.default"(%x) args [#loop.arg<0>] : (!aten.t<i64[1, s0]>) -> !aten.int<u0>
  %buf = kernel.alloc : !aten.t<f32[u0, s0]>
  func.return %buf : !aten.t<f32[u0, s0]>
}

// -----

// CHECK:          (x,) = args
// CHECK:          buf0 = aten_nonzero(x)
// CHECK-NEXT:     u0 = buf0.size(0)
// CHECK-NEXT:     buf0 = promised(buf0, u0)
func.func @call(%x: !aten.t<i64[8]>) -> !aten.t<i64[u0, 1]> attributes {symbols = #aten.symbols<u0 = [min 0]>} {
  %buf0 = kernel.extern "aten.nonzero.default"(%x) args [#loop.arg<0>] : (!aten.t<i64[8]>) -> !aten.t<i64[u0, 1]>
  func.return %buf0 : !aten.t<i64[u0, 1]>
}
