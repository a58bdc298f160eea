builtin.module @silu {
  func.func @before(%x: !aten.t<f32[s0, s1]>) -> !aten.t<f32[s0, s1]> attributes {symbols = #aten.symbols<s0 = [min 2], s1 = [min 2]>} {
    %a = aten.sigmoid.default(%x) : !aten.t<f32[s0, s1]>
    %b = aten.mul.Tensor(%x, %a) : !aten.t<f32[s0, s1]>
    func.return %b : !aten.t<f32[s0, s1]>
  }
  func.func @after(%x: !aten.t<f32[s0, s1]>) -> !aten.t<f32[s0, s1]> attributes {symbols = #aten.symbols<s0 = [min 2], s1 = [min 2]>} {
    %a = aten.silu.default(%x) : !aten.t<f32[s0, s1]>
    func.return %a : !aten.t<f32[s0, s1]>
  }
}
builtin.module @square {
  func.func @before(%x: !aten.t<f32[s0, s0]>, %k: !aten.float) -> (!aten.t<f32[s0, s0]>, !aten.t<f32[s0, s0]>) attributes {symbols = #aten.symbols<s0 = [min 2]>} {
    %a = aten.mul.Tensor(%x, %k) : !aten.t<f32[s0, s0]>
    %b = aten.exp.default(%a) : !aten.t<f32[s0, s0]>
    %c = aten.permute.default(%a, dims = [1, 0]) : !aten.t<f32[s0, s0]:[1, s0]>
    %d = aten.sin.default(%c) : !aten.t<f32[s0, s0]:[1, s0]>
    %e = aten.clone.default(%d, memory_format = contiguous_format) : !aten.t<f32[s0, s0]>
    func.return %b, %e : !aten.t<f32[s0, s0]>, !aten.t<f32[s0, s0]>
  }
  func.func @after(%x: !aten.t<f32[s0, s0]>, %k: !aten.float) -> (!aten.t<f32[s0, s0]>, !aten.t<f32[s0, s0]>) attributes {symbols = #aten.symbols<s0 = [min 2]>} {
    %a = aten.mul.Tensor(%x, %k) : !aten.t<f32[s0, s0]>
    %b = aten.sinh.default(%a) : !aten.t<f32[s0, s0]>
    %n = aten.full.default(size = [s0, s0], fill_value = 1.0, dtype = f32, device = "cpu") : !aten.t<f32[s0, s0]>
    func.return %b, %n : !aten.t<f32[s0, s0]>, !aten.t<f32[s0, s0]>
  }
}
builtin.module @itself {
  func.func @before(%x: !aten.t<f32[s0]>) -> !aten.t<f32[s0]> attributes {symbols = #aten.symbols<s0 = [min 2]>} {
    %a = aten.exp.default(%x) : !aten.t<f32[s0]>
    %b = aten.log.default(%a) : !aten.t<f32[s0]>
    func.return %b : !aten.t<f32[s0]>
  }
  func.func @after(%x: !aten.t<f32[s0]>) -> !aten.t<f32[s0]> attributes {symbols = #aten.symbols<s0 = [min 2]>} {
    func.return %x : !aten.t<f32[s0]>
  }
}
