builtin.module {}
builtin.module {}
