// RUN: %invalid
// RUN: not mini-opt %s -p no-such-pass 2>&1 | filecheck %s --check-prefix PASS
// RUN: not mini-opt %s -p default-cpuu 2>&1 | filecheck %s --check-prefix PIPELINE
// RUN: not mini-opt %s -p 'default-cpu{no-such-option=1}' 2>&1 | filecheck %s --check-prefix OPTION
// RUN: not mini-opt %s -p 'canonicalize{' 2>&1 | filecheck %s --check-prefix TEXT
// RUN: not mini-opt %s -p 'default-cpu{threads=x}' 2>&1 | filecheck %s --check-prefix TYPE
// RUN: not mini-opt %s -p 'default-cpu{machine=h2000}' 2>&1 | filecheck %s --check-prefix MACHINE
// RUN: not mini-opt %S/Inputs/empty-module.mlir -p 'kernel-threads{threads=0}' 2>&1 | filecheck %s --check-prefix THREADS
// RUN: not mini-opt %S/Inputs/two-modules.mlir 2>&1 | filecheck %s --check-prefix MODULES
// RUN: not mini-opt %S/Inputs/binary.mlir 2>&1 | filecheck %s --check-prefix BINARY
// RUN: not mini-opt %S/Inputs/broken.pt2 2>&1 | filecheck %s --check-prefix PROGRAM
// RUN: not mini-opt %S/nowhere.mlir 2>&1 | filecheck %s --check-prefix FILE

/// Errors are short and name the nearest known thing.

// PASS: mini-opt: error: unknown pass 'no-such-pass'
// PIPELINE: mini-opt: error: unknown pass 'default-cpuu', did you mean 'default-cpu'?
// OPTION: mini-opt: error: pipeline 'default-cpu' has no option 'no_such_option'
// TEXT: mini-opt: error: Error parsing pass pipeline specification
// TYPE: mini-opt: error: pass {{.*}}: option 'threads' is of type int, not 'x'
// MACHINE: mini-opt: error: pass 'loop-fuse': unknown machine 'h2000', did you mean 'h200'?
// THREADS: mini-opt: error: pass 'kernel-threads' failed: {{.*}}threads = 0; one is the fewest
// MODULES: mini-opt: error: 2 modules in one file: separate them by dashes and give --split-input-file
// BINARY: mini-opt: error: {{.*}}binary.mlir: not text (byte 0xff at 3)
// PROGRAM: mini-opt: error: {{.*}}broken.pt2: not a .pt2 program, which is a zip archive; write one by torch.export.save
// FILE: mini-opt: error: cannot read or write {{.*}}nowhere.mlir: No such file or directory

/// A verifier's message comes with the one line it is about, not with the module.

// CHECK-NOT: builtin.module
// CHECK: Expected entry block arguments to have the same types as the function input types
// CHECK-NEXT: at: "func.func"() <{sym_name = "a"
// CHECK-NOT: builtin.module
"func.func"() <{sym_name = "a", function_type = (i32) -> ()}> ({
^bb0(%x : i64):
  func.return
}) : () -> ()
