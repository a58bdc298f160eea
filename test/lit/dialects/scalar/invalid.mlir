// RUN: %invalid

/// Operands of one type; a message says which cast is missing.
func.func @types(%a : f32, %b : f64) {
  // CHECK: operand types differ
  %c = "scalar.add"(%a, %b) : (f32, f64) -> f64
  func.return }

// -----

/// A float op on integers.
func.func @kind(%a : i64) {
  // CHECK: `scalar.exp` is for float operands, not `i64`; cast first
  %c = "scalar.exp"(%a) : (i64) -> i64
  func.return }

// -----

/// An index that uses an operand it does not have.
func.func @operand() {
  // CHECK: index uses t0 but the op has 0 index operands
  %c = "scalar.index"() <{expr = #loop.expr<t0>}> : () -> i64
  func.return }

// -----

/// Both sides of a condition give the results' types.
func.func @sides(%c : i1, %a : f32) {
  // CHECK: the else region yields other types than the results'
  %v = scalar.if %c -> f32 { yield %a : f32 } else { yield %c : i1 }
  func.return }

// -----

/// Bits keep their number.
func.func @bits(%a : f32) {
  // CHECK: bitcast between types of different widths; use scalar.cast
  %c = "scalar.bitcast"(%a) : (f32) -> i64
  func.return }

// -----

/// A table has an entry for each value, so there must be few of them.
func.func @table(%a : f32) {
  // CHECK: a table has an entry for each value of 8 or 16 bits
  %v = scalar.lookup %a -> f32 { ^bb0(%x : f32): yield %x : f32 }
  func.return }

// -----

/// What fills a table knows one value and nothing else.
func.func @around(%a : bf16, %b : f32) {
  // CHECK: the region uses nothing from around it
  %v = scalar.lookup %a -> f32 { ^bb0(%x : bf16): yield %b : f32 }
  func.return }
