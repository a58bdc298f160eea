func.func @f(%q: !aten.t<f32[1, 2, 8, 16]>) -> !aten.t<f32[1, 2, 8, 16]> {
  %o, %l = aten._scaled_dot_product_flash_attention_for_cpu.default(%q, %q, %q) : !aten.t<f32[1, 2, 8, 16]>, !aten.t<f32[1, 2, 8]>
  func.return %o : !aten.t<f32[1, 2, 8, 16]>
}
