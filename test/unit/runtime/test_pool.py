"""The pool of large buffers: reuse, bounds, layouts, threads."""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Callable

import pytest
import torch

from minductor.runtime.launch import launcher
from minductor.runtime.pool import Pool, PythonPool, huge_pages, make_pool, pool

MB = 1 << 20
F32 = torch.float32


def vector(p: Pool, megabytes: float) -> torch.Tensor:
    return p.empty((int(megabytes * MB) // 4,), (1,), F32)


Make = Callable[..., Pool]


@pytest.fixture(params=[make_pool, PythonPool], ids=["launcher", "python"])
def make(request: pytest.FixtureRequest) -> Make:
    return request.param


@pytest.fixture
def small(make: Make) -> Pool:
    return make(16 * MB, MB)


def test_memory_comes_back_when_its_last_tensor_dies(small: Pool) -> None:
    x = vector(small, 4)
    address = x.data_ptr()
    row = x[1000:2000]
    del x
    assert small.free_bytes() == 0
    row.fill_(1.0)
    del row
    assert small.free_bytes() == 4 * MB
    again = vector(small, 4)
    assert again.data_ptr() == address
    assert small.free_bytes() == 0


def test_live_tensors_never_share(small: Pool) -> None:
    tensors = [vector(small, 2).fill_(float(i)) for i in range(10)]
    assert all(bool((t == i).all()) for i, t in enumerate(tensors))


def test_the_limit_holds(small: Pool, make: Make) -> None:
    tensors = [vector(small, 4) for _ in range(10)]
    del tensors
    assert small.free_bytes() == 16 * MB
    nothing = make(0, MB)
    x = vector(nothing, 4).fill_(1.0)
    del x
    assert nothing.free_bytes() == 0


def test_a_block_that_is_much_too_large_is_not_taken(small: Pool) -> None:
    x = vector(small, 8)
    del x
    y = vector(small, 2)
    assert small.free_bytes() == 8 * MB
    z = vector(small, 7)
    assert small.free_bytes() == 0
    assert y.data_ptr() != z.data_ptr()


def test_small_and_empty_tensors_are_torchs(small: Pool) -> None:
    x = vector(small, 0.5)
    x.resize_(MB)
    assert small.empty((0, 4 * MB), (4 * MB, 1), F32).shape == (0, 4 * MB)
    del x
    assert small.free_bytes() == 0


DTYPES = [torch.bool, torch.bfloat16, torch.int64, torch.complex64, torch.uint16]


@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts(small: Pool, dtype: torch.dtype) -> None:
    x = small.empty((1500, 1000), (1, 1500), dtype)
    assert x.shape == (1500, 1000)
    assert x.stride() == (1, 1500)
    assert x.dtype == dtype
    assert x.data_ptr() % 64 == 0
    x.fill_(1)
    assert bool((x.to(torch.complex64) == 1).all())
    assert not x.requires_grad
    assert x.clone().stride() == x.stride()


def test_autograd_and_numpy_accept_it(small: Pool) -> None:
    x = vector(small, 2).fill_(2.0).requires_grad_()
    (x * 3).sum().backward()
    assert x.grad is not None
    assert x.detach().numpy()[0] == 2.0


def test_threads(small: Pool) -> None:
    failures: list[str] = []

    def work(seed: int) -> None:
        for i in range(30):
            x = vector(small, 1 + (seed + i) % 3).fill_(float(seed))
            y = x[:100]
            del x
            if not bool((y == seed).all()):
                failures.append(f"{seed} at {i}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert 0 < small.free_bytes() <= small.limit


def test_the_process_has_one_with_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINDUCTOR_POOL_BYTES", "12345")
    pool.cache_clear()
    try:
        assert pool() is pool()
        assert pool().limit == 12345
    finally:
        pool.cache_clear()


def test_a_limit_that_is_no_number_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINDUCTOR_POOL_BYTES", "2GB")
    pool.cache_clear()
    try:
        with pytest.warns(
            RuntimeWarning, match="MINDUCTOR_POOL_BYTES is a number of bytes, not '2GB'"
        ):
            assert pool().limit > 0
    finally:
        pool.cache_clear()


def test_a_forked_child_writes_a_copy(small: Pool) -> None:
    x = vector(small, 2).fill_(1.0)
    flat = x.numpy()
    child = os.fork()
    if child == 0:  # numpy alone: torch's threads are not forked
        flat[:] = 2.0
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert x[0] == 1.0


@pytest.mark.skipif(not huge_pages(), reason="the system has no huge pages to give")
def test_blocks_lie_on_huge_pages(small: Pool) -> None:
    x = vector(small, 32)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    x.fill_(1.0)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    assert faults < 32 * MB // 4096 // 2


def test_release_gives_all_back(small: Pool) -> None:
    x = vector(small, 4)
    del x
    small.release()
    assert small.free_bytes() == 0


def test_a_block_that_came_back_holds_what_is_written_to_it(small: Pool) -> None:
    for value in range(5):
        x = vector(small, 4).fill_(float(value))
        assert bool((x == value).all())
        del x


needs_launcher = pytest.mark.skipif(launcher() is None, reason="the launcher cannot be built")


@needs_launcher
def test_a_process_has_the_launchers_pool() -> None:
    assert not isinstance(pool(), PythonPool)


@needs_launcher
@pytest.mark.skipif(not huge_pages(), reason="only huge pages are yielded")
def test_blocks_are_yielded_when_they_lie_idle() -> None:
    waiting = make_pool(16 * MB, MB, idle=0.05)
    x = vector(waiting, 4)
    y = vector(waiting, 4)
    del x
    assert waiting.yielded_bytes() == 0
    deadline = time.monotonic() + 10
    while waiting.yielded_bytes() < 4 * MB and time.monotonic() < deadline:
        time.sleep(0.01)
    assert waiting.yielded_bytes() == 4 * MB
    time.sleep(0.3)  # nobody looks any more: the next one is yielded as it comes back
    del y
    assert waiting.yielded_bytes() == 8 * MB
    z = vector(waiting, 4).fill_(1.0)  # used again, and looked after again
    assert waiting.yielded_bytes() == 4 * MB
    assert bool((z == 1).all())


@needs_launcher
@pytest.mark.skipif(not huge_pages(), reason="only huge pages are yielded")
def test_a_forked_child_looks_after_its_own() -> None:
    both = make_pool(16 * MB, MB, idle=60.0)
    x = vector(both, 4)
    child = os.fork()
    if child == 0:
        del x
        os._exit(0 if both.yielded_bytes() == 4 * MB else 1)
    assert os.waitpid(child, 0)[1] == 0
    del x
    assert both.yielded_bytes() == 0


@needs_launcher
def test_tensors_outlive_their_pool() -> None:
    short = make_pool(16 * MB, MB)
    x = vector(short, 4).fill_(3.0)
    del short
    assert bool((x == 3).all())


@needs_launcher
def test_the_pool_refuses_nonsense() -> None:
    with pytest.raises(ValueError, match="negative"):
        make_pool(16 * MB, MB).empty((-1, 4 * MB), (1, 1), F32)
    with pytest.raises(TypeError, match="tuple"):
        make_pool(16 * MB, MB).empty([MB], (1,), F32)
