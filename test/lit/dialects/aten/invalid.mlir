// RUN: %invalid

/// An argument that the schema does not have; the schema is shown.

// CHECK: no argument `beta` in the schema aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
func.func @f(%x: !aten.t<f32[4]>) {
  %a = aten.add.Tensor(%x, %x, beta = 2) : !aten.t<f32[4]>
  func.return
}

// -----

/// An argument that has no default is missing.

// CHECK: property 'dim' expected in operation 'aten.cumsum.default'
func.func @f(%x: !aten.t<f32[4]>) {
  %a = aten.cumsum.default(%x) : !aten.t<f32[4]>
  func.return
}

// -----

/// A property of the wrong kind.

// CHECK: `dim` must be an integer or index expression
func.func @f(%x: !aten.t<f32[4]>) {
  %a = "aten.cumsum.default"(%x) <{dim = 1.0 : f64}> : (!aten.t<f32[4]>) -> !aten.t<f32[4]>
  func.return
}

// -----

/// A number in a tensor's place needs an op.

// CHECK: `other` is a tensor: expected an SSA value
func.func @f(%x: !aten.t<f32[4]>) {
  %a = aten.add.Tensor(%x, 1.0) : !aten.t<f32[4]>
  func.return
}

// -----

/// A size symbol that no argument gives.

// CHECK: symbol `s3` is not bound: give the function an argument of type !aten.int<s3>
func.func @f(%x: !aten.t<f32[4]>) {
  %a = aten.relu.default(%x) : !aten.t<f32[s3]>
  func.return
}

// -----

/// An unbacked symbol is used before the op that binds it.

// CHECK: symbol `u0` is used before the op that binds it
func.func @f(%x: !aten.t<i64[]>) {
  %a = aten.full.default(size = [u0], fill_value = 1) : !aten.t<i64[u0]>
  %b = aten.item.default(%x) : !aten.int<u0>
  func.return
}

// -----

// CHECK: unknown dtype `f31`; known: f64, f32
func.func @f(%x: !aten.t<f32[4]>) {
  %a = aten._to_copy.default(%x, dtype = f31) : !aten.t<f32[4]>
  func.return
}

// -----

// CHECK: Operation aten.ad.Tensor is not registered
func.func @f(%x: !aten.t<f32[4]>) {
  %a = aten.ad.Tensor(%x, %x) : !aten.t<f32[4]>
  func.return
}
