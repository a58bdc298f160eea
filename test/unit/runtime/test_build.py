"""The compiler call: what is found, what errors say, what the flags keep."""

from __future__ import annotations

import ctypes
import os
import stat
from pathlib import Path

import pytest

from minductor.runtime.build import (
    BuildConfig,
    BuildError,
    Compiler,
    build_shared,
    default_flags,
    find_c_compiler,
    find_compiler,
    shares,
    start_build,
    write_source,
)

GOOD = 'extern "C" int answer(void) { return 42; }\n'


def _script(folder: Path, body: str) -> Compiler:
    """A stand-in compiler."""
    path = folder / "fake-compiler"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return Compiler((str(path),), "gcc", "fake")


def test_builds_a_library_that_runs(tmp_path: Path) -> None:
    out = tmp_path / "k.so"
    build_shared(GOOD, out)
    assert ctypes.CDLL(str(out)).answer() == 42
    assert (tmp_path / "k.cpp").read_text() == GOOD


def test_runs_in_the_background(tmp_path: Path) -> None:
    source = tmp_path / "k.cpp"
    source.write_text(GOOD)
    gate = tmp_path / "gate"
    body = f"while [ ! -e {gate} ]; do sleep 0.01; done; touch {tmp_path / 'k.so'}"
    build = start_build(source, tmp_path / "k.so", BuildConfig(_script(tmp_path, body)))
    assert not build.done()
    gate.touch()
    build.wait()
    assert build.done()
    build.wait()


def test_error_names_command_messages_and_source(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        build_shared("int f( { return undefined_thing; }", tmp_path / "k.so")
    text = str(caught.value)
    assert str(tmp_path / "k.cpp") in text
    assert "-ffp-contract=off" in text
    assert "error" in text


def test_only_the_end_of_long_messages_is_kept(tmp_path: Path) -> None:
    body = 'i=0; while [ $i -lt 500 ]; do echo "line $i" >&2; i=$((i+1)); done; exit 1'
    with pytest.raises(BuildError) as caught:
        build_shared(GOOD, tmp_path / "k.so", BuildConfig(_script(tmp_path, body)))
    assert "line 499" in str(caught.value)
    assert "line 3\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("message", "mend"),
    [
        ("fatal error: error writing to k.s: No space left on device", "MINDUCTOR_CACHE_DIR"),
        ("g++: fatal error: cannot execute 'cc1plus': No such file", "install the package g++"),
        ("/usr/bin/ld: cannot find -lomp: No such file", "libomp-dev"),
        ("/usr/bin/ld: cannot find -lgomp: No such file", "libgomp1"),
        ("", "CXX .* names it"),
        ("k.cpp:3:1: error: expected ';'", "logs='output_code' prints the source"),
    ],
)
def test_known_failures_say_what_mends_them(tmp_path: Path, message: str, mend: str) -> None:
    compiler = _script(tmp_path, f'echo "{message}" >&2; exit 1')
    with pytest.raises(BuildError, match=mend):
        build_shared(GOOD, tmp_path / "k.so", BuildConfig(compiler))


def test_killed_compiler_speaks_of_memory(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="memory"):
        build_shared(GOOD, tmp_path / "k.so", BuildConfig(_script(tmp_path, "kill -9 $$")))


def test_success_without_a_library_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="wrote no library"):
        build_shared(GOOD, tmp_path / "k.so", BuildConfig(_script(tmp_path, "exit 0")))


def test_a_compiler_that_hangs_is_stopped(tmp_path: Path) -> None:
    config = BuildConfig(_script(tmp_path, "exec sleep 60"), timeout_s=0.2)
    with pytest.raises(BuildError, match=r"within 0\.2 s"):
        build_shared(GOOD, tmp_path / "k.so", config)


def test_cxx_comes_first_and_must_exist(tmp_path: Path) -> None:
    path = _script(tmp_path, "exit 0").command[0]
    assert find_compiler({"CXX": path}).command == (path,)
    assert find_compiler({"CXX": f"{path} -m64"}).command == (path, "-m64")
    with pytest.raises(BuildError, match="CXX='/nonexistent'"):
        find_compiler({"CXX": "/nonexistent"})


def test_no_compiler_names_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match="install g\\+\\+"):
        find_compiler({})
    with pytest.raises(BuildError, match="install gcc"):
        find_c_compiler({})


def test_clang_is_the_second_choice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "clang++"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = find_compiler({})
    assert found.kind == "clang"
    assert "-ferror-limit=8" in default_flags(found)


def test_identity_follows_the_file(tmp_path: Path) -> None:
    path = _script(tmp_path, "exit 0").command[0]
    first = find_compiler({"CXX": path}).identity
    assert find_compiler({"CXX": path}).identity == first
    os.utime(path, ns=(1, 1))
    assert find_compiler({"CXX": path}).identity != first


def test_flags_keep_ieee_results() -> None:
    flags = default_flags(Compiler(("g++",), "gcc", ""))
    assert "-ffp-contract=off" in flags
    assert "-fwrapv" in flags
    assert not {"-ffast-math", "-Ofast", "-fassociative-math", "-ffinite-math-only"} & set(flags)


def test_arithmetic_is_not_contracted_and_wraps(tmp_path: Path) -> None:
    source = """
extern "C" double residue(double a, double b, double c) { return a * b + c; }
extern "C" int bigger(int a) { return a + 1 > a; }
"""
    build_shared(source, tmp_path / "k.so")
    library = ctypes.CDLL(str(tmp_path / "k.so"))
    library.residue.restype = ctypes.c_double
    a = 1.0 + 2.0**-30
    library.residue.argtypes = [ctypes.c_double] * 3
    assert library.residue(a, a, -(a * a)) == 0.0
    assert library.bigger(2**31 - 1) == 0


def test_a_folder_that_cannot_hold_the_source(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BuildError, match="MINDUCTOR_CACHE_DIR"):
        write_source(tmp_path / "file" / "k.cpp", GOOD)


SHARED = """#ifndef PARTS
#define PARTS 1
#define PART 0
#endif
static int seven(void) { return 7; }
#if 0 % PARTS == PART
extern "C" int one(void) { return seven() + PART; }
#endif
#if 1 % PARTS == PART
extern "C" int two(void) { return 10 * seven() + PART; }
#endif
"""


@pytest.mark.parametrize("parts", [1, 2])
def test_compilers_share_the_kernels_of_a_source(tmp_path: Path, parts: int) -> None:
    assert shares(SHARED) == 2
    assert shares(GOOD) == 1
    source, out = tmp_path / "k.cpp", tmp_path / "k.so"
    write_source(source, SHARED)
    build = start_build(source, out, parts=parts)
    build.wait()
    assert build.done()
    build.wait()
    library = ctypes.CDLL(str(out))
    assert (library.one(), library.two()) == ((7, 70) if parts == 1 else (7, 71))


def test_an_error_in_one_share_stops_the_others(tmp_path: Path) -> None:
    source = tmp_path / "k.cpp"
    write_source(source, SHARED.replace("10 * seven", "10 * eleven"))
    build = start_build(source, tmp_path / "k.so", parts=2)
    with pytest.raises(BuildError, match="eleven") as caught:
        build.wait()
    assert "-DPART=1" in str(caught.value)
    assert build.done()
    assert not (tmp_path / "k.so").exists()


def test_a_shared_build_can_be_cancelled(tmp_path: Path) -> None:
    source = tmp_path / "k.cpp"
    write_source(source, SHARED)
    build = start_build(source, tmp_path / "k.so", BuildConfig(_script(tmp_path, "sleep 60")), 2)
    assert not build.done()
    build.cancel()
    assert build.done()
