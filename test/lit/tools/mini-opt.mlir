// RUN: %roundtrip
// RUN: %generic
// RUN: mini-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC

/// A module without passes prints as it is; the generic form parses too.

// CHECK:      func.func @identity(%x: i64) -> i64 {
// CHECK-NEXT:   func.return %x : i64
// GENERIC: "func.func"() <{sym_name = "identity"
func.func @identity(%x: i64) -> i64 {
  func.return %x : i64
}
