// RUN: mini-opt %s -p kernel-predicate --split-input-file --print-remarks | filecheck %s

/// A guarded load becomes a masked load, the choice a select: the loop can be vector code.
// CHECK-LABEL: kernel.func @cat
// CHECK:         %c = scalar.within d0 in 0 to 512
// CHECK:         %a = kernel.load %x[d0] if %c else %{{.*}} : f32
// CHECK:         [[NOT:%.*]] = scalar.not %c : i1
// CHECK:         %b = kernel.load %y[d0 - 512] if [[NOT]] else %{{.*}} : f32
// CHECK-NEXT:    %v = scalar.select %c, %a, %b : f32
// CHECK-NOT:     scalar.if
kernel.func @cat(read %x : !kernel.buf<f32[512]>, read %y : !kernel.buf<f32[256]>, write %o : !kernel.buf<f32[768]>) [] config {target = "cpp"} {
  parallel d0 : 768 {
    %c = scalar.within d0 in 0 to 512
    %v = scalar.if %c -> f32 {
      %a = kernel.load %x[d0] : f32
      yield %a : f32
    } else {
      %b = kernel.load %y[d0 - 512] : f32
      yield %b : f32
    }
    store %v, %o[d0] } }

// -----

/// A checked index may fault: where the condition is false it checks 0, which cannot.
// CHECK-LABEL: kernel.func @guarded_index
// CHECK-NOT:     scalar.if
// CHECK:         [[ZERO:%.*]] = scalar.constant 0 : i64
// CHECK-NEXT:    [[SAFE:%.*]] = scalar.select %c, %k, [[ZERO]] : i64
// CHECK-NEXT:    %j = scalar.bound [[SAFE]] to 4 wrap
// CHECK:         %a = kernel.load %x[%j] if %c else
kernel.func @guarded_index(read %i : !kernel.buf<i64[8]>, read %x : !kernel.buf<f32[4]>, write %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    %c = scalar.within d0 in 0 to 4
    %k = load %i[d0] : i64
    %z = scalar.constant 0.0 : f32
    %v = scalar.if %c -> f32 {
      %j = scalar.bound %k to 4 wrap
      %a = kernel.load %x[%j] : f32
      yield %a : f32
    } else {
      yield %z : f32
    }
    store %v, %o[d0] } }

// -----

/// An integer division by a dead lane's value would fault too: there the divisor is 1.
// CHECK-LABEL: kernel.func @guarded_division
// CHECK:         [[ONE:%.*]] = scalar.constant 1 : i64
// CHECK-NEXT:    [[SAFE:%.*]] = scalar.select %c, %a, [[ONE]] : i64
// CHECK-NEXT:    %q = scalar.floordiv %z, [[SAFE]] : i64
kernel.func @guarded_division(read %x : !kernel.buf<i64[8]>, write %o : !kernel.buf<i64[8]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    %a = load %x[d0] : i64
    %z = scalar.constant 0 : i64
    %c = scalar.ne %a, %z : i64
    %v = scalar.if %c -> i64 {
      %q = scalar.floordiv %z, %a : i64
      yield %q : i64
    } else {
      yield %z : i64
    }
    store %v, %o[d0] } }

// -----

/// Of nothing no index is right: where the size may be 0, live lanes alone are checked.
// CHECK-LABEL: kernel.func @guarded_index_of_maybe_nothing
// CHECK-NOT:     scalar.if
// CHECK:         %j = scalar.bound %k to s0 if %c
// CHECK:         %a = kernel.load %x[%j] if %c else
kernel.func @guarded_index_of_maybe_nothing(read %i : !kernel.buf<i64[8]>, read %x : !kernel.buf<f32[s0]>, write %o : !kernel.buf<f32[8]>) [s0] config {target = "cpp"} {
  parallel d0 : 8 {
    %c = scalar.within d0 in 0 to 4
    %k = load %i[d0] : i64
    %z = scalar.constant 0.0 : f32
    %v = scalar.if %c -> f32 {
      %j = scalar.bound %k to s0
      %a = kernel.load %x[%j] : f32
      yield %a : f32
    } else {
      yield %z : f32
    }
    store %v, %o[d0] } }

// -----

/// A store stays under its control flow.
// CHECK-LABEL: kernel.func @guarded_store
// CHECK:         scalar.if
// CHECK:       // remark: [kernel-predicate] refused guarded_store: `kernel.store` under a condition must keep its control flow
kernel.func @guarded_store(write %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    %c = scalar.within d0 in 0 to 4
    %z = scalar.constant 0.0 : f32
    %v = scalar.if %c -> f32 {
      kernel.store %z, %o[d0]
      yield %z : f32
    } else {
      yield %z : f32
    } } }

// -----

/// In the other branch it is the other lanes that are dead; floats divide by anything.
// CHECK-LABEL: kernel.func @guarded_otherwise
// CHECK:         [[NOT:%.*]] = scalar.not %c : i1
// CHECK:         [[SAFE:%.*]] = scalar.select [[NOT]], %a, {{%.*}} : i64
// CHECK-NEXT:    %q = scalar.floordiv %z, [[SAFE]] : i64
// CHECK:         %t = scalar.truncdiv %w, %w : f32
kernel.func @guarded_otherwise(read %x : !kernel.buf<i64[8]>, read %y : !kernel.buf<f32[8]>, write %o : !kernel.buf<i64[8]>, write %p : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    %a = load %x[d0] : i64
    %w = load %y[d0] : f32
    %z = scalar.constant 0 : i64
    %c = scalar.eq %a, %z : i64
    %v, %u = scalar.if %c -> i64, f32 {
      yield %z, %w : i64, f32
    } else {
      %q = scalar.floordiv %z, %a : i64
      %t = scalar.truncdiv %w, %w : f32
      yield %q, %t : i64, f32
    }
    store %v, %o[d0]
    store %u, %p[d0] } }
