"""The store of compiled graphs on disk: a folder an entry, named by a key of its content.

Rules that hold whatever happens around us:
- An entry appears whole or not at all: it is made in a private folder beside the store and renamed.
- Every file is named with its digest in the entry's manifest, and the manifest holds its own;
  an entry that fails the check is removed and counts as absent. Nothing unchecked is ever loaded.
- Several processes may store the same key at once: one rename wins, the others use its entry.
- The folders belong to the user and are closed to others (mode 0700); a store that somebody else
  owns is not used. What cannot be written is replaced by a private temporary folder for the life
  of the process, with one warning.

The place is MINDUCTOR_CACHE_DIR, else minductor in XDG_CACHE_HOME, else ~/.cache/minductor.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from minductor.runtime.artifact import LIBRARY, Artifact, from_texts

FORMAT = "v1"
_MANIFEST = "manifest.json"
_STALE_S = 24 * 3600.0
_ATTEMPTS = 20
_ROOM = 1 << 20
"""Bytes that a disk has to have left before anything is built on it."""


def default_root() -> Path:
    """Where the cache lies according to the environment."""
    chosen = os.environ.get("MINDUCTOR_CACHE_DIR", "").strip()
    if chosen:
        return Path(chosen).expanduser().absolute()
    home = os.environ.get("XDG_CACHE_HOME", "").strip()
    base = Path(home) if home and os.path.isabs(home) else Path.home() / ".cache"
    return base / "minductor"


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=20).hexdigest()


def _private_folder(path: Path) -> Path:
    """Make `path` a folder of ours that only we can enter. Raises OSError where that cannot be."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    info = os.lstat(path)
    if stat.S_ISLNK(info.st_mode) and info.st_uid == os.getuid():
        info = os.stat(path)  # a link of ours may lead to where there is more room
    if not stat.S_ISDIR(info.st_mode):
        raise NotADirectoryError(20, "not a folder", str(path))
    if info.st_uid != os.getuid():
        raise PermissionError(1, "the folder belongs to another user", str(path))
    if stat.S_IMODE(info.st_mode) & 0o077:
        os.chmod(path, 0o700)
    if not os.access(path, os.W_OK | os.X_OK):
        raise PermissionError(13, "the folder cannot be written", str(path))
    return path


def _demand_room(folder: Path) -> None:
    """Raises OSError where the disk of `folder` is full; some file systems do not tell."""
    info = os.statvfs(folder)
    if info.f_blocks and info.f_bavail * info.f_frsize < _ROOM:
        raise OSError(errno.ENOSPC, "the disk is full")


@cache
def _warn_of(folder: Path, why: str) -> None:
    """Say once that products are not kept."""
    warnings.warn(
        f"minductor's cache folder {folder} cannot be used ({why}); products are kept in a "
        "temporary folder until this process ends. Set MINDUCTOR_CACHE_DIR to a folder that you "
        "can write.",
        RuntimeWarning,
        stacklevel=5,
    )


@cache
def _temporary_root() -> Path:
    """A private folder for this process alone, removed when it ends."""
    path = Path(tempfile.mkdtemp(prefix="minductor-"))
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # not in a forked child
            shutil.rmtree(path, ignore_errors=True)

    atexit.register(remove)
    return path


def _manifest(files: Mapping[str, bytes], key: str) -> bytes:
    body = {"key": key, "files": {name: _digest(data) for name, data in sorted(files.items())}}
    text = json.dumps(body, sort_keys=True)
    return json.dumps({"body": text, "digest": _digest(text.encode())}).encode()


def _checked(folder: Path, key: str) -> dict[str, bytes] | None:
    """All files of an entry, or None when any is absent, changed, or the manifest is not whole."""
    try:
        outer = json.loads((folder / _MANIFEST).read_bytes())
        text = outer["body"]
        if _digest(text.encode()) != outer["digest"]:
            return None
        body = json.loads(text)
        if body["key"] != key:
            return None
        files: dict[str, bytes] = {}
        for name, digest in body["files"].items():
            files[name] = (folder / name).read_bytes()
            if _digest(files[name]) != digest:
                return None
        return files
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


class Cache:
    """One store. `root` None takes `default_root`. Safe for threads and processes."""

    def __init__(self, root: Path | None = None) -> None:
        self.wanted = default_root() if root is None else root
        try:
            _private_folder(self.wanted)
            self.root = _private_folder(self.wanted / FORMAT)
            _private_folder(self.root / "tmp")
        except OSError as error:
            self._fall_back(error)

    def _fall_back(self, error: OSError) -> None:
        self.root = _private_folder(_temporary_root() / FORMAT)
        _private_folder(self.root / "tmp")
        _warn_of(self.wanted, str(error.strerror or error))

    @staticmethod
    def key(parts: Iterable[str]) -> str:
        """Digest of the parts, in order; no two different lists of parts share their input."""
        digest = hashlib.sha256()
        for part in parts:
            data = part.encode()
            digest.update(len(data).to_bytes(8, "little"))
            digest.update(data)
        return digest.hexdigest()

    def folder(self, key: str) -> Path:
        """Where the entry of `key` lies, or would lie."""
        return self.root / key[:2] / key

    def load(self, key: str) -> Artifact | None:
        """The stored artifact, its folder set, after all checks; None when absent or damaged."""
        files = self.load_files(key)
        if files is None:
            return None
        texts = {name: data for name, data in files.items() if name != LIBRARY}
        try:
            return from_texts({n: d.decode() for n, d in texts.items()}, self.folder(key))
        except (KeyError, ValueError):
            self.discard(key)
            return None

    def load_files(self, key: str) -> dict[str, bytes] | None:
        """The checked files of an entry of any kind; a damaged entry is removed."""
        folder = self.folder(key)
        if not folder.is_dir():
            return None
        files = _checked(folder, key)
        if files is None:
            self.discard(key)
        return files

    def discard(self, key: str) -> None:
        """Remove an entry: renamed away first, so that nobody sees half of it."""
        try:
            grave = Path(tempfile.mkdtemp(dir=self.root / "tmp"))
        except OSError:
            return
        with contextlib.suppress(OSError):
            os.rename(self.folder(key), grave / "entry")
        shutil.rmtree(grave, ignore_errors=True)

    def staging(self) -> Path:
        """A new private folder on the store's disk, to build an entry in."""
        try:
            _demand_room(self.root)
            return Path(tempfile.mkdtemp(dir=self.root / "tmp"))
        except OSError as error:
            if self.root.is_relative_to(_temporary_root()):
                raise
            self._fall_back(error)
            return Path(tempfile.mkdtemp(dir=self.root / "tmp"))

    def store(self, key: str, artifact: Artifact, library: bytes | None = None) -> Artifact:
        """Store texts and the built library's content; returns the artifact with its folder set."""
        files = {name: text.encode() for name, text in artifact.texts().items()}
        if library is not None:
            files[LIBRARY] = library
        return replace(artifact, folder=self.store_files(key, files))

    def store_files(self, key: str, files: Mapping[str, bytes]) -> Path:
        """Store files under `key`. A disk that fills up meanwhile costs the warning, no more."""
        try:
            return self._publish(key, files)
        except OSError as error:
            if self.root.is_relative_to(_temporary_root()):
                raise
            self._fall_back(error)
            return self._publish(key, files)

    def _publish(self, key: str, files: Mapping[str, bytes]) -> Path:
        final = self.folder(key)
        self._sweep()
        stage = self.staging()
        try:
            for name, data in {**files, _MANIFEST: _manifest(files, key)}.items():
                (stage / name).write_bytes(data)
            final.parent.mkdir(mode=0o700, exist_ok=True)
            for _ in range(_ATTEMPTS):
                try:
                    os.rename(stage, final)
                    return final
                except OSError as error:
                    if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                        raise
                if _checked(final, key) is not None:
                    return final  # another process was first
                self.discard(key)
            raise OSError(17, "the entry is damaged and cannot be replaced", str(final))
        finally:
            shutil.rmtree(stage, ignore_errors=True)

    def _sweep(self) -> None:
        """Remove what processes that died left behind more than a day ago."""
        limit = time.time() - _STALE_S
        try:
            with os.scandir(self.root / "tmp") as entries:
                stale = [e.path for e in entries if e.stat(follow_symlinks=False).st_mtime < limit]
        except OSError:
            return
        for path in stale:
            shutil.rmtree(path, ignore_errors=True)
