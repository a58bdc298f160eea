"""The conformance suite itself: it sees what is wrong, and its workers may die."""

import json
import textwrap
from pathlib import Path

import pytest
import torch

from minductor.tools.conformance.__main__ import run as run_conformance
from minductor.tools.conformance.compare import check_metadata, check_value
from minductor.tools.conformance.entries import items, spread
from minductor.tools.conformance.pool import Pool
from minductor.tools.conformance.results import Item, Mismatch, Result
from minductor.tools.conformance.settings import Settings, parse
from minductor.tools.conformance.trees import copied


def test_samples_are_spread_and_every_kind_is_among_them() -> None:
    kinds = ["plain"] * 10
    assert spread(kinds, 4) == [0, 3, 6, 9]
    kinds[4], kinds[7] = "empty", "0-d"
    assert {0, 4, 7} < set(spread(kinds, 4))
    assert spread(kinds[:2], 4) == [0, 1]
    assert spread([], 4) == []


def test_shards_are_all_entries_once() -> None:
    every = items(Settings(dtypes=("f32",)))
    parts = [items(Settings(dtypes=("f32",), shard=(k, 7))) for k in range(1, 8)]
    assert sorted(map(repr, every)) == sorted(repr(i) for part in parts for i in part)


@pytest.mark.parametrize("flags", [["--dtypes", "f8"], ["--shard", "0/3"], ["--modes", "fast"]])
def test_wrong_flags_are_refused(flags: list[str]) -> None:
    with pytest.raises(SystemExit):
        parse(flags)


def test_copies_keep_strides_offsets_and_sharing() -> None:
    base = torch.arange(24.0)
    a, b = base[2:14].view(3, 4).t(), base[3].expand(5)
    x, y, z = copied((a, b, a))
    assert (x.stride(), x.storage_offset(), y.stride()) == ((1, 4), 2, (0,))
    assert x is z
    x.fill_(7)
    assert y[0] == 7
    assert a[0, 0] == 2


@pytest.mark.parametrize(
    ("got", "word"),
    [
        (torch.ones(2, 3, dtype=torch.float64), "dtype"),
        (torch.ones(3, 2), "shape"),
        (torch.ones(3, 2).t(), "strides"),
        (torch.ones(2, 3, requires_grad=True), "requires_grad"),
        (1.0, "float for Tensor"),
    ],
)
def test_metadata(got: object, word: str) -> None:
    with pytest.raises(Mismatch, match=word):
        check_metadata(got, torch.ones(2, 3))


def test_strides_of_single_elements_and_empty_tensors_do_not_count() -> None:
    check_metadata(torch.ones(1, 3).as_strided((1, 3), (77, 1)), torch.ones(1, 3))
    check_metadata(torch.ones(3, 0).t(), torch.ones(0, 3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64, torch.int64])
def test_values(dtype: torch.dtype) -> None:
    want = torch.arange(6).to(dtype)
    check_value(want.clone(), want)
    wrong = want.clone()
    wrong[4] += 1
    with pytest.raises(Mismatch, match=r"1 of 6 elements, first at \[4\]"):
        check_value(wrong, want)


def test_nan_and_infinity() -> None:
    want = torch.tensor([float("nan"), float("inf")])
    check_value(want.clone(), want)
    for got in (torch.tensor([0.0, float("inf")]), torch.tensor([float("nan"), 3e38])):
        with pytest.raises(Mismatch):
            check_value(got, want)


def test_more_precise_than_eager_is_right_and_less_precise_is_not() -> None:
    reference = torch.tensor([1.0, 1000.0], dtype=torch.float64)
    eager = torch.tensor([1.0, 1001.0])
    check_value(torch.tensor([1.0, 1000.0]), eager, lambda: reference)
    check_value(torch.tensor([1.0, 999.0]), eager, lambda: reference)
    with pytest.raises(Mismatch):
        check_value(torch.tensor([1.0, 990.0]), eager, lambda: reference)
    with pytest.raises(Mismatch):
        check_value(torch.tensor([1.0, 1000.0]), eager, lambda: None)


CHILD = """
import json, os, sys, time
def send(**message):
    print(json.dumps(message), flush=True)
send(ready=True)
for line in sys.stdin:
    item = json.loads(line)
    for unit in ("0", "1", "2"):
        if unit in item["after"]:
            continue
        send(doing=unit, stage="ours")
        if item["entry"] == "dies" and unit == "1":
            os.abort()
        if item["entry"] == "hangs" and unit == "1":
            time.sleep(60)
        fields = {k: item[k] for k in ("entry", "dtype", "mode")}
        send(result={**fields, "unit": unit, "cls": "pass"})
    send(done=True)
"""


def test_a_worker_that_dies_or_hangs_costs_one_sample(tmp_path: Path) -> None:
    script = tmp_path / "child.py"
    script.write_text(textwrap.dedent(CHILD))
    found: list[Result] = []
    pool = Pool(Settings(jobs=2, timeout=2), found.append, worker=(str(script),))
    pool.run([Item(name, "f32", "forward") for name in ("fine", "dies", "hangs", "good")])
    classes = {(r.entry, r.unit): r.cls for r in found}
    assert classes.pop(("dies", "1")) == "crash"
    assert classes.pop(("hangs", "1")) == "timeout"
    assert len(classes) == 10
    assert set(classes.values()) == {"pass"}


def test_items_travel_as_json() -> None:
    item = Item("add", "f32", "grad", True, ("0",), ("error", "why"))
    assert Item.of(json.loads(json.dumps(item.message()))) == item


def test_a_number_where_a_half_type_overflowed() -> None:
    """A kernel keeps f32 where eager's product became infinite on its way to a finite result."""
    want, reference = torch.tensor([float("inf"), 2.0]).half(), torch.tensor([21000.0, 2.0])
    check_value(torch.tensor([21040.0, 2.0]).half(), want, lambda: reference.double())
    for wrong in ([20000.0, 2.0], [21040.0, 2.1]):
        with pytest.raises(Mismatch):
            check_value(torch.tensor(wrong).half(), want, lambda: reference.double())


def test_a_run_that_is_ended_early_keeps_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(pool: Pool, todo: list[Item]) -> None:
        pool.report(Result(todo[0].entry, todo[0].dtype, todo[0].mode, "0", "pass"))
        pool.done()
        raise KeyboardInterrupt

    monkeypatch.setattr(Pool, "run", run)
    kept = tmp_path / "found.json"
    with pytest.raises(SystemExit) as ended:
        run_conformance(parse(["--only", "^abs$", "--json", str(kept)]))
    assert ended.value.code == 1
    assert len(kept.read_text().splitlines()) == 1
    assert "cut short: 1 of" in capsys.readouterr().out
