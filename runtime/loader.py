"""From an artifact to a callable: build, store, load.

`Product` is one graph on its way: its sources go to a private folder, the compiler starts in the
background, and `finish` waits for it, stores the entry and loads it. Triton's kernels are compiled
from the stored entry, side by side, from the beginning too. `load` alone serves entries that were
fetched from the cache.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minductor.runtime.artifact import CPP, LIBRARY, WRAPPER, Artifact
from minductor.runtime.build import (
    Build,
    BuildConfig,
    BuildError,
    PartedBuild,
    cores,
    shares,
    start_build,
    write_source,
)
from minductor.runtime.cache import Cache
from minductor.runtime.host import Host
from minductor.runtime.launch import prepare

if TYPE_CHECKING:
    from minductor.runtime.triton_loader import TritonModule

Boxed = Callable[[list[Any]], list[Any]]
"""Takes a list of inputs, empties it, returns the list of outputs."""


class LoadError(RuntimeError):
    """A product's wrapper does not define what it must; the text names its file."""


def load(artifact: Artifact, folder: Path, kernels: TritonModule | None = None) -> Boxed:
    """The callable of an artifact whose files lie in `folder` (built library included).

    `kernels`: its Triton kernels, where their compile has begun.

    The result empties the list it is given, so that inputs can die as soon as they are used, and
    carries the attribute `_boxed_call` by which AOTAutograd knows it.
    """
    path = folder / WRAPPER
    namespace: dict[str, Any] = {
        "__name__": f"minductor_wrapper_{artifact.name}",
        "__file__": str(path),
        "host": Host(artifact, folder, kernels),
    }
    exec(compile(artifact.wrapper, str(path), "exec"), namespace)
    if not callable(namespace.get("call")):
        raise LoadError(f"the wrapper {path} defines no function call(args)")
    call: Any = namespace["call"]
    call._boxed_call = True
    return call


class Product:
    """One graph between its sources and its callable. `finish` is idempotent."""

    def __init__(
        self, key: str, artifact: Artifact, cache: Cache, config: BuildConfig | None = None
    ) -> None:
        self._key = key
        self._artifact = artifact
        self._cache = cache
        self._stage: Path | None = None
        self._build: Build | PartedBuild | None = None
        self._done: Boxed | None = None
        prepare()
        self._kernels: TritonModule | None = None
        if artifact.cpp is None:
            self._begin()
            return
        self._stage = cache.staging()
        try:
            write_source(self._stage / CPP, artifact.cpp)
            parts = min(cores(), shares(artifact.cpp))
            self._build = start_build(self._stage / CPP, self._stage / LIBRARY, config, parts)
        except BaseException:
            self._clean()
            raise

    def _begin(self) -> None:
        """Start to compile Triton kernels: like all of a product's files, from the store."""
        if self._artifact.triton is None:
            return
        from minductor.runtime.triton_loader import TritonModule, may_begin

        if may_begin():
            self._artifact = self._cache.store(self._key, self._artifact, None)
            assert self._artifact.folder is not None
            self._kernels = TritonModule(self._artifact, self._artifact.folder)

    @property
    def artifact(self) -> Artifact:
        """The artifact; its folder is set after `finish`."""
        return self._artifact

    def built(self) -> bool:
        """True when `finish` will not have to wait."""
        return self._build is None or self._build.done()

    def _clean(self) -> None:
        if self._stage is not None:
            shutil.rmtree(self._stage, ignore_errors=True)
            self._stage = None

    def finish(self) -> Boxed:
        """Wait for the compiler, store the entry, load it. Raises BuildError."""
        if self._done is not None:
            return self._done
        try:
            library: bytes | None = None
            if self._build is not None and self._stage is not None:
                self._build.wait()
                library = (self._stage / LIBRARY).read_bytes()
        finally:
            self._clean()
        try:
            self._done = self._install(library)
        except ImportError:  # somebody cleared the store between the two steps
            self._done = self._install(library)
        return self._done

    def _install(self, library: bytes | None) -> Boxed:
        kernels, self._kernels = self._kernels, None
        if kernels is None:
            self._artifact = self._cache.store(self._key, self._artifact, library)
        folder = self._artifact.folder
        assert folder is not None
        return load(self._artifact, folder, kernels)

    def abandon(self) -> None:
        """Nobody will call it: keep the entry if it is built, else stop the compiler."""
        if self._done is not None or self._stage is None:
            return
        try:
            if self.built() and self._build is not None:
                self._build.wait()
                library = (self._stage / LIBRARY).read_bytes()
                self._artifact = self._cache.store(self._key, self._artifact, library)
        except (BuildError, OSError):
            pass
        finally:
            self.cancel()

    def cancel(self) -> None:
        """Stop the compiler and drop the sources."""
        if self._build is not None:
            self._build.cancel()
        self._clean()


def fetch(cache: Cache, key: str) -> tuple[Artifact, Boxed] | None:
    """The stored product of `key`, checked and loaded, or None.

    An entry that passes its checks and still does not load (another machine's library on a shared
    disk, say) is removed and counts as absent.
    """
    artifact = cache.load(key)
    if artifact is None or artifact.folder is None:
        return None
    try:
        return artifact, load(artifact, artifact.folder)
    except (ImportError, SyntaxError, LoadError):
        cache.discard(key)
        return None


def produce(
    key: str, artifact: Artifact, cache: Cache, config: BuildConfig | None = None
) -> tuple[Artifact, Boxed]:
    """Build, store and load an artifact in one go. Raises BuildError."""
    product = Product(key, artifact, cache, config)
    call = product.finish()
    return product.artifact, call
