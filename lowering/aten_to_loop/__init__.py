"""`aten` to `loop`: one nest, view or extern call for every op of a graph.

`registry` is the table, `call` what a lowering sees of an op, `nest_builder` writes nests, `refs`
turns views into index arithmetic, `extern` calls what has no lowering, `convert` walks the graph.
The other modules are families of lowerings, one small function an op.
"""
