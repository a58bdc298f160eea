"""The driver's parts that need no pass: the key's text, the target, where failures go."""

from pathlib import Path

import pytest
import torch
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

from minductor.compiler import Compile, Frame
from minductor.errors import CompileError, OptionError, Unsupported
from minductor.options import make_options
from minductor.passes.manager import PassFailure
from minductor.runtime.progress import Progress


def compile_with(**options: object) -> Compile:
    return Compile("inference", make_options(options), Progress("test", enabled=False))


def graph(*tensors: torch.Tensor) -> GraphModule:
    return make_fx(lambda *xs: [x + 1 for x in xs], tracing_mode="fake")(*tensors)


def test_target_follows_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compile_with()._target(graph(torch.ones(2))) == "cpp"
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert compile_with(target="triton")._target(graph(torch.ones(2))) == "triton"
    monkeypatch.delenv("TRITON_INTERPRET")
    with pytest.raises(OptionError, match="set TRITON_INTERPRET=1"):
        compile_with(target="triton")._target(graph(torch.ones(2)))


def test_other_devices_are_left_alone() -> None:
    with pytest.raises(Unsupported, match="the device 'meta'"):
        compile_with()._target(graph(torch.ones(2, device="meta")))
    with pytest.raises(Unsupported, match="several devices: cpu, meta"):
        compile_with()._target(graph(torch.ones(2), torch.ones(2, device="meta")))


def test_a_failed_pass_is_kept_with_its_replay(tmp_path: Path) -> None:
    failure = PassFailure("loop-fuse", "loop-fuse{preset=seed}", ("loop-fuse",), "module {}", "no")
    error = compile_with(dump_dir=str(tmp_path))._pass_error(failure)
    assert isinstance(error, CompileError)
    assert error.path is not None
    assert error.path.is_relative_to(tmp_path)
    assert "module {}" in error.path.read_text()
    assert f"mini-opt {error.path} -p 'loop-fuse{{preset=seed}}'" in str(error)


def test_stored_products_do_not_serve_logs_of_passes() -> None:
    assert compile_with()._may_fetch()
    assert compile_with(logs="aten,output_code")._may_fetch()
    assert not compile_with(logs="fusion")._may_fetch()
    assert not compile_with(cache=False)._may_fetch()


def test_key_depends_on_options_of_passes_and_on_plans(tmp_path: Path) -> None:
    plan = tmp_path / "plan"
    keys: list[str] = []
    for options in ({}, {"threads": 3}, {"preset": "seed"}, {"pipeline": "verify-stage"}):
        keys.append(compile_with(**options)._key("text", "cpp"))
    for text in ("one", "two"):
        plan.write_text(text)
        keys.append(compile_with(plan_in=str(plan))._key("text", "cpp"))
    machine = tmp_path / "mine.toml"
    for launch in (1.0, 2.0):
        machine.write_text(f"launch = {launch}")
        keys.append(compile_with(machine=str(machine))._key("text", "cpp"))
        text = f"loop-fuse{{machine={machine}}}"
        keys.append(compile_with(pipeline=text)._key("text", "cpp"))
    assert len(set(keys)) == len(keys)
    assert compile_with(plan="a", strict=True)._key("text", "cpp") == keys[0]


def test_frame_adds_constants_and_missing_outputs() -> None:
    def call(args: list[object]) -> list[object]:
        taken = list(args)
        args.clear()
        return taken

    assert Frame((), (0, 1)).around(call) is call
    run = Frame(("c",), (2, None, 0)).around(call)
    args: list[object] = ["a", "b"]
    assert run(args) == ["c", None, "a"]
    assert args == []
