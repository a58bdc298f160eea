// RUN: mini-opt %s -p kernel-vectorize --split-input-file | filecheck %s
// RUN: mini-opt %s -p kernel-vectorize -t cpp --split-input-file | filecheck %s --check-prefix TEXT

/// A row's prefix sums have lanes: prefixes in a vector, on top of what the vectors before left.
// CHECK-LABEL: kernel.func @row
// CHECK:         kernel.scan d1 : 1001 <lanes 8, tail scalar> [add]
// TEXT-LABEL:  static int row_body(
// TEXT:          lane_loop<8, 1, 2>(0, 1001,
// TEXT:            const auto prefixes = prefix<r_add<vec<f64, L.n>>>(L, carry, w_1);
// TEXT:            st(L, o + (i0 + d1), n);
kernel.func @row(read %x : !kernel.buf<f32[64064]>, write %o : !kernel.buf<f32[64064]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    scan d1 : 1001 [add] {
      %v = load %x[1001 * d0 + d1] : f32
      %w = scalar.cast %v : f32 to f64
      yield %w : f64
    } do (%p : f64) {
      %n = scalar.cast %p : f64 to f32
      store %n, %o[1001 * d0 + d1] } } }

// -----

/// Down a column neighbours in memory are the rows: each lane scans a column of its own.
// CHECK-LABEL: kernel.func @column
// CHECK:         kernel.parallel d0 : 64 <lanes 16
// CHECK:           kernel.scan d1 : 1001 [add]
// TEXT-LABEL:  static int column_body(
// TEXT:          r_add<vec<f32, L.n>> carry;
kernel.func @column(read %x : !kernel.buf<f32[64064]>, write %o : !kernel.buf<f32[64064]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    scan d1 : 1001 [add] {
      %v = load %x[d0 + 64 * d1] : f32
      yield %v : f32
    } do (%p : f32) {
      store %p, %o[d0 + 64 * d1] } } }

// -----

/// The place of an extreme and sums of exponentials go one by one.
// CHECK-LABEL: kernel.func @places
// CHECK:         kernel.scan d0 : 1001 [cummax]
// CHECK:         kernel.scan d1 : 1001 [logaddexp]
kernel.func @places(read %x : !kernel.buf<f32[1001]>, write %o : !kernel.buf<i64[1001]>, write %p : !kernel.buf<f32[1001]>) [] config {target = "cpp"} {
  scan d0 : 1001 [cummax] {
    %v = load %x[d0] : f32
    %j = scalar.index d0 : i64
    yield %v, %j : f32, i64
  } do (%m : f32, %i : i64) {
    store %i, %o[d0] }
  scan d1 : 1001 [logaddexp] {
    %v = load %x[d1] : f32
    yield %v : f32
  } do (%m : f32) {
    store %m, %p[d1] } }
