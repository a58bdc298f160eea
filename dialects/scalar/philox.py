"""Reference of `scalar.random`: Philox-4x32-10 (Salmon et al., 2011), pure functions.

The counter is (low, high) 32 bits of the flat index, the stream and 0; the key is the seed's low
and high 32 bits. A value depends on (seed, stream, index) alone, so that any order of evaluation,
and evaluating twice, gives the same. The C++ and Triton emitters print the same arithmetic.

    philox         uniform in [0, 1): word0 >> 8 over 2**24 (f32); 53 bits of word1:word0 (f64);
                   bf16 and f16 keep their 8 and 11 leading bits, so that 1.0 never appears
    philox_normal  sqrt(-2 log u) cos(2 pi v), with u = ((word0 >> 8) + 1) / 2**24 and
                   v = (word1 >> 8) / 2**24
    philox_bits    word1:word0 as a signed 64-bit integer, wrapped to the result's width

Functions take an int or a NumPy integer array as index.
"""

from __future__ import annotations

import math
from typing import Any

_M0, _M1 = 0xD2511F53, 0xCD9E8D57
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW = 0xFFFFFFFF


def philox_words(seed: int, stream: int, index: int) -> tuple[int, int]:
    """The first two output words for one flat index."""
    c0, c1, c2, c3 = index & _LOW, (index >> 32) & _LOW, stream & _LOW, 0
    k0, k1 = seed & _LOW, (seed >> 32) & _LOW
    for _ in range(10):
        p, q = c0 * _M0, c2 * _M1
        c0, c1, c2, c3 = (q >> 32) ^ c1 ^ k0, q & _LOW, (p >> 32) ^ c3 ^ k1, p & _LOW
        k0, k1 = (k0 + _W0) & _LOW, (k1 + _W1) & _LOW
    return c0, c1


def philox_array(seed: int, stream: int, index: Any) -> tuple[Any, Any]:
    """The first two output words for a NumPy array of flat indices, as uint64 arrays."""
    import numpy as np

    flat = np.asarray(index).astype(np.uint64)
    low, shift = np.uint64(_LOW), np.uint64(32)
    c0, c1 = flat & low, flat >> shift
    c2, c3 = np.full_like(flat, stream & _LOW), np.zeros_like(flat)
    k0, k1 = seed & _LOW, (seed >> 32) & _LOW
    for _ in range(10):
        p, q = c0 * np.uint64(_M0), c2 * np.uint64(_M1)
        c0, c1 = (q >> shift) ^ c1 ^ np.uint64(k0), q & low
        c2, c3 = (p >> shift) ^ c3 ^ np.uint64(k1), p & low
        k0, k1 = (k0 + _W0) & _LOW, (k1 + _W1) & _LOW
    return c0, c1


def normal_parts(dtype: str, seed: int, stream: int, index: Any) -> tuple[Any, Any]:
    """The uniform numbers u and v of `philox_normal`: exact, as what is made of them is not."""
    import numpy as np

    a, b = philox_array(seed, stream, index)
    wide = np.float64 if dtype == "f64" else np.float32
    u = ((a >> np.uint64(8)).astype(wide) + wide(1)) * wide(2.0**-24)
    return u, (b >> np.uint64(8)).astype(wide) * wide(2.0**-24)


def random_array(kind: str, dtype: str, seed: int, stream: int, index: Any) -> Any:
    """Values of `scalar.random kind` as a NumPy array; bf16 values come as float32.

    Integer results of `philox_bits` have the dtype's width and signedness.
    """
    import numpy as np

    a, b = philox_array(seed, stream, index)
    if kind == "philox_bits":
        bits = ((b << np.uint64(32)) | a).astype(np.int64)
        name = dtype.replace("i", "int").replace("u", "uint")
        return bits.astype("uint" + dtype[1:] if dtype[0] == "u" else name)
    wide = np.float64 if dtype == "f64" else np.float32
    if kind == "philox_normal":
        u, v = normal_parts(dtype, seed, stream, index)
        return np.sqrt(wide(-2) * np.log(u)) * np.cos(v * wide(2 * math.pi))
    if dtype == "f64":
        whole = (b << np.uint64(32)) | a
        return (whole >> np.uint64(11)).astype(np.float64) * 2.0**-53
    bits = {"f32": 24, "bf16": 8, "f16": 11}[dtype]
    return (a >> np.uint64(32 - bits)).astype(np.float32) * np.float32(2.0**-bits)
