"""Conformance with eager PyTorch, judged by PyTorch's own database of operator samples (OpInfo).

    python -m minductor.tools.conformance                       # everything: hours of one core
    python -m minductor.tools.conformance --only '^nn.functional.gelu$' --dtypes f32,bf16
    python -m minductor.tools.conformance --shard 1/20 --jobs 2 --json result.json

An *item* is one entry of the database with one dtype and one mode (forward, grad, inplace); a
*unit* is one of its samples. Worker processes take items; one that crashes or hangs is replaced,
and the unit that it was at is classed so.
"""
