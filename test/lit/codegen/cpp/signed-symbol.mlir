// RUN: mini-opt %s -t cpp | filecheck %s

/// Division floors where a number may be negative: s1 is the user's, s0 a size.

// CHECK: floordiv(s1, 3)
// CHECK: quo(s0, 3)
kernel.func @numbers(write %o : !kernel.buf<i64[s0]>) [s0, s1] config {target = "cpp"} {
  kernel.parallel d0 : s0 {
    %a = scalar.index (s1 floordiv 3) : i64
    %b = scalar.index (s0 floordiv 3) : i64
    %c = scalar.add %a, %b : i64
    kernel.store %c, %o[d0]
  }
}
func.func @call(%n: !aten.int<s0>, %k: !aten.int<s1>) -> !aten.t<i64[s0]> attributes {symbols = #aten.symbols<s0 = [min 2], s1 = [signed]>} {
  %o = kernel.alloc : !aten.t<i64[s0]>
  kernel.launch @numbers(%o)[s0, s1]
  func.return %o : !aten.t<i64[s0]>
}
