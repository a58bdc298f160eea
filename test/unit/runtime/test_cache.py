"""The store: whole entries or none, damage is noticed, processes do not disturb each other."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

from minductor.runtime import cache as cache_module
from minductor.runtime.artifact import Artifact
from minductor.runtime.cache import Cache, default_root

KEY = "ab" + "0" * 62
ARTIFACT = Artifact("forward", "cpp", "def call(args): ...\n", "int x;\n", None, "plan", {"n": [1]})
LIBRARY = bytes(range(250)) * 4


def test_round_trip(tmp_path: Path) -> None:
    store = Cache(tmp_path / "c")
    assert store.load(KEY) is None
    stored = store.store(KEY, ARTIFACT, LIBRARY)
    loaded = Cache(tmp_path / "c").load(KEY)
    assert loaded == ARTIFACT
    assert loaded is not None
    assert loaded.folder == stored.folder == store.folder(KEY)
    assert (store.folder(KEY) / "kernels.so").read_bytes() == LIBRARY
    assert (store.folder(KEY) / "kernels.cpp").read_text() == "int x;\n"


def test_keys_do_not_depend_on_how_text_is_cut() -> None:
    assert Cache.key(["ab", "c"]) != Cache.key(["a", "bc"])
    assert Cache.key(["a", ""]) != Cache.key(["a"])
    assert Cache.key(["a"]) == Cache.key(["a"])


def test_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MINDUCTOR_CACHE_DIR", str(tmp_path / "here"))
    assert default_root() == tmp_path / "here"
    monkeypatch.delenv("MINDUCTOR_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_root() == tmp_path / "xdg" / "minductor"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_root() == tmp_path / ".cache" / "minductor"


def test_folders_are_private(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        store = Cache(tmp_path / "new")
        store.store(KEY, ARTIFACT)
    finally:
        os.umask(mask)
    for folder in (tmp_path / "new", store.root, store.root / "tmp", store.folder(KEY)):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder


def test_an_open_store_is_closed_to_others(tmp_path: Path) -> None:
    root = tmp_path / "open"
    Cache(root)
    (root / cache_module.FORMAT).chmod(0o755)
    Cache(root)
    assert stat.S_IMODE((root / cache_module.FORMAT).stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "name",
    ["wrapper.py", "kernels.cpp", "kernels.so", "meta.json", "plan.txt", "manifest.json"],
)
@pytest.mark.parametrize("damage", ["cut", "flip", "remove", "empty"])
def test_damage_is_noticed_and_repaired(tmp_path: Path, name: str, damage: str) -> None:
    store = Cache(tmp_path / "c")
    store.store(KEY, ARTIFACT, LIBRARY)
    path = store.folder(KEY) / name
    data = path.read_bytes()
    if damage == "remove":
        path.unlink()
    elif damage == "flip":
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    else:
        path.write_bytes(data[: len(data) // 2] if damage == "cut" else b"")
    assert store.load(KEY) is None
    assert not store.folder(KEY).exists()
    store.store(KEY, ARTIFACT, LIBRARY)
    assert store.load(KEY) == ARTIFACT


def test_an_entry_under_a_wrong_key_is_not_taken(tmp_path: Path) -> None:
    store = Cache(tmp_path / "c")
    store.store(KEY, ARTIFACT)
    other = "ab" + "1" * 62
    os.rename(store.folder(KEY), store.folder(other))
    assert store.load(other) is None


def test_store_replaces_a_damaged_entry_that_nobody_loaded(tmp_path: Path) -> None:
    store = Cache(tmp_path / "c")
    store.store(KEY, ARTIFACT)
    (store.folder(KEY) / "wrapper.py").write_text("something else")
    store.store(KEY, ARTIFACT)
    assert store.load(KEY) == ARTIFACT


def test_the_first_of_two_writers_wins(tmp_path: Path) -> None:
    store = Cache(tmp_path / "c")
    store.store(KEY, ARTIFACT)
    inode = store.folder(KEY).stat().st_ino
    store.store(KEY, ARTIFACT)
    assert store.folder(KEY).stat().st_ino == inode
    assert os.listdir(store.root / "tmp") == []


def test_a_place_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.warns(RuntimeWarning, match="file/cache cannot be used"):
        store = Cache(tmp_path / "file" / "cache")
    store.store(KEY, ARTIFACT)
    assert store.load(KEY) == ARTIFACT
    assert stat.S_IMODE(store.root.stat().st_mode) == 0o700
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        Cache(tmp_path / "file" / "cache")


def test_a_link_of_ours_to_a_folder(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "c").symlink_to(tmp_path / "room")
    store = Cache(tmp_path / "c")
    store.store(KEY, ARTIFACT)
    assert list((tmp_path / "room").iterdir())
    assert Cache(tmp_path / "c").load(KEY) == ARTIFACT


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_another_owner(tmp_path: Path) -> None:
    root = Cache(tmp_path / "c").root
    os.chown(root, 12345, 12345)
    with pytest.warns(RuntimeWarning, match="another user"):
        store = Cache(tmp_path / "c")
    assert not store.root.is_relative_to(tmp_path)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_permission(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir(mode=0o500)
    with pytest.warns(RuntimeWarning, match="cannot be used"):
        Cache(tmp_path / "c")


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is built on it: a build that fails half way would cost the graph its kernels."""
    store = Cache(tmp_path / "full")
    real = os.statvfs

    def statvfs(path: Path) -> SimpleNamespace:
        info = real(path)
        full = Path(path).is_relative_to(tmp_path)
        left = 40 * 1024 // info.f_frsize if full else info.f_bavail
        return SimpleNamespace(f_blocks=info.f_blocks, f_bavail=left, f_frsize=info.f_frsize)

    monkeypatch.setattr(os, "statvfs", statvfs)
    with pytest.warns(RuntimeWarning, match="the disk is full"):
        folder = store.staging()
    assert not folder.is_relative_to(tmp_path)
    store.store(KEY, ARTIFACT)
    assert store.load(KEY) == ARTIFACT


def test_a_disk_that_fills_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Cache(tmp_path / "c")
    write = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if path.is_relative_to(tmp_path):
            raise OSError(28, "No space left on device", str(path))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.warns(RuntimeWarning, match="No space left"):
        stored = store.store(KEY, ARTIFACT)
    assert stored.folder is not None
    assert not stored.folder.is_relative_to(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.load(KEY) == ARTIFACT
    assert os.listdir(tmp_path / "c" / cache_module.FORMAT / "tmp") == []


def test_leavings_of_dead_processes_go(tmp_path: Path) -> None:
    store = Cache(tmp_path / "c")
    old, young = store.staging(), store.staging()
    past = time.time() - 3 * 24 * 3600
    os.utime(old, (past, past))
    store.store(KEY, ARTIFACT)
    assert not old.exists()
    assert young.exists()


WORKER = """
import sys
from pathlib import Path
from minductor.runtime.artifact import Artifact
from minductor.runtime.cache import Cache
store = Cache(Path(sys.argv[1]))
for round in range(60):
    for n in range(3):
        key = f"{n:064x}"
        found = store.load(key)
        assert found is None or found.wrapper == "x" * 5000 + str(n), "half an entry"
        store.store(key, Artifact("forward", "cpp", "x" * 5000 + str(n)))
        if round % 7 == n:
            store.discard(key)
"""


def test_processes_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WORKER, str(tmp_path / "c")]
    workers = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(4)]
    for worker in workers:
        _, stderr = worker.communicate(timeout=120)
        assert worker.returncode == 0, stderr.decode()
        assert b"Warning" not in stderr, stderr.decode()
    store = Cache(tmp_path / "c")
    for n in range(3):
        store.store(f"{n:064x}", Artifact("forward", "cpp", "x" * 5000 + str(n)))
        assert store.load(f"{n:064x}") is not None
    assert os.listdir(store.root / "tmp") == []
