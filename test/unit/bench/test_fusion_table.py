"""The accountant of bench/fusion, the reader of Inductor's log, the table of docs/fusion.md."""

import json
from collections.abc import Sequence
from dataclasses import replace

from bench.fusion.__main__ import DOCUMENT, FIGURES
from bench.fusion.account import Buffer, Kernel, Touch, kernel_bytes
from bench.fusion.inductor import read_index, read_log
from bench.fusion.kernels import read_module
from bench.fusion.report import problems, table, with_table
from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr

X, Y = Buffer("x", 1000, 4), Buffer("y", 1000, 4)
D0, D1 = ex.dim(0), ex.dim(1)


def touch(
    buffer: Buffer, index: Expr | None, loops: Sequence[int], step: int = 0, **more: object
) -> Touch:
    extents = tuple(ex.const(n) for n in loops)
    return Touch(buffer, index, extents, step, **more)  # pyright: ignore[reportArgumentType]


def priced(*touches: Touch, rows: int = 1, shared: dict[str, int] | None = None) -> int:
    return kernel_bytes(Kernel("k", rows, list(touches), shared or {}))


def test_an_element_counts_once() -> None:
    row = touch(X, 10 * D0 + D1, [100, 10])
    assert priced(row, touch(Y, D0, [1000], store=True)) == 8000
    assert priced(row, row, touch(X, D0 + 500, [500], 1)) == 4000
    assert priced(touch(X, 20 * D0, [50])) == 200
    assert priced(touch(X, ex.floordiv(D0, ex.const(4)), [1000])) == 1000
    assert priced(touch(X, D0 - 5, [10])) == 20


def test_passes_over_far_data_count_each() -> None:
    far = Buffer("far", 1 << 19, 4)
    reads = [touch(far, D0, [1 << 19], step) for step in (0, 1)]
    assert priced(*reads) == 2 * far.numel * 4
    assert priced(*reads, rows=8) == far.numel * 4
    end = touch(X, D0, [1000], 2)
    assert priced(*reads, end, shared={"far": 8}) == far.numel * 4 + 4000
    assert priced(*reads, end, shared={"x": 8}) == 2 * far.numel * 4 + 4000


def test_stores() -> None:
    store, load = touch(X, D0, [1000], store=True), touch(X, D0, [1000], 1)
    assert priced(store, load) == 4000
    assert priced(load, store) == 8000
    assert priced(touch(X, D0, [1000], store=True, combine=True)) == 8000


def test_gathers_move_lines_but_no_more_than_all() -> None:
    assert priced(touch(X, None, [10], trips=10)) == 10 * 64
    assert priced(touch(X, None, [10, 8], trips=80, dense=True)) == 320
    assert priced(touch(X, None, [9999], trips=9999)) == 4000


def test_gathers_of_two_sources_move_both() -> None:
    """Rows that are worked on side by side gather with indices of their own."""
    a, b = (touch(X, None, [4, 8], trips=32, dense=True, source=s) for s in "ab")
    assert priced(a, replace(a, step=1)) == 128
    assert priced(a, b) == 256


def test_indices_as_printed_by_the_log() -> None:
    text = "64*p0 + ModularIndexing(p1, 8, 4) - (p1//2) + Min(1, p0)"
    index = read_index(text, ("p0", "p1"))
    for p0, p1 in ((0, 0), (3, 37), (5, 12)):
        want = 64 * p0 + p1 // 8 % 4 - p1 // 2 + min(1, p0)
        assert index.eval({ex.dim_atom(0): p0, ex.dim_atom(1): p1}) == want


LOG = """\
AFTER FUSION
op0_op1: FusedSchedulerNode(SchedulerNode,SchedulerNode)
    buf0: ComputedBuffer
    buf0.layout = FixedLayout('cpu', torch.float32, size=[8, 1], stride=[1, 8])
    buf0.users = [NodeUser(node=SchedulerNode(name='op1'), can_inplace=False, is_weak=False)]
    buf1: ComputedBuffer
    buf1.layout = FixedLayout('cpu', torch.float32, size=[8, 16], stride=[16, 1])
    buf1.users = [NodeUser(node=ExternKernelSchedulerNode(name='op2'), can_inplace=False)]
op0_op1.snodes[0] =
op0: SchedulerNode(ComputedBuffer)
primals_1_layout = FixedLayout('cpu', torch.float32, size=[8, 16], stride=[16, 1])
class op0_loop_body:
    var_ranges = {p0: 8, p1: 16}
    index0 = 16*p0 + p1
    index1 = p0
    def body(self, ops):
        get_index = self.get_index('index0')
        load = ops.load('primals_1', get_index)
        reduction = ops.reduction(torch.float32, torch.float32, 'sum', load)
        get_index_1 = self.get_index('index1')
        store_reduction = ops.store_reduction('buf0', get_index_1, reduction)
        return None
op0_op1.snodes[1] =
op1: SchedulerNode(ComputedBuffer)
class op1_loop_body:
    var_ranges = {p0: 8, p1: 16}
    index0 = 16*p0 + p1
    index1 = p0
    def body(self, ops):
        get_index = self.get_index('index0')
        load = ops.load('primals_1', get_index)
        get_index_1 = self.get_index('index1')
        load_1 = ops.load('buf0', get_index_1)
        sub = ops.sub(load, load_1)
        get_index_2 = self.get_index('index0')
        store = ops.store('buf1', get_index_2, sub, None)
        return store
op2: ExternKernelSchedulerNode(ExternKernelOut)
    buf2.layout = FixedLayout('cpu', torch.float32, size=[8, 8], stride=[8, 1])
Output code:
class Runner:
    def call(self, args):
        primals_1, = args
        buf1 = empty_strided_cpu((8, 16), (16, 1), torch.float32)
        cpp_fused_sub_sum_0(primals_1, buf1)
        buf2 = empty_strided_cpu((8, 8), (8, 1), torch.float32)
        extern_kernels.mm(buf1, reinterpret_tensor(buf1, (16, 8), (1, 16), 0), out=buf2)
        return (buf2, )
def get_args():
    primals_1 = rand_strided((8, 16), (16, 1), device='cpu', dtype=torch.float32)
Output code written to: /somewhere
"""


def test_a_log_becomes_kernels_and_calls() -> None:
    """The row sums are in registers: nobody is handed their buffer."""
    (graph,) = read_log(LOG)
    assert [(k.name, kernel_bytes(k)) for k in graph.kernels] == [("op0_op1", 2 * 8 * 16 * 4)]
    assert [(c.name, c.bytes) for c in graph.calls] == [("extern_kernels.mm", 2 * 512 + 256)]
    cat = LOG.replace("(buf1, reinterpret_tensor(buf1, ", "(buf9, reinterpret_tensor(buf9, ")
    cat = cat.replace("        buf1 =", "        buf9 =")
    assert read_log(cat)[0].calls == graph.calls, "a buffer that only the wrapper knows"
    handed = LOG.replace("_0(primals_1, buf1)", "_0(primals_1, buf0, buf1)")
    (graph,) = read_log(handed)
    assert kernel_bytes(graph.kernels[0]) == 2 * 8 * 16 * 4 + 32


MODULE = """\
builtin.module {
  kernel.func @k(read %x : !kernel.buf<f32[128]>, write %y : !kernel.buf<f32[128]>) [] config {target = "cpp"} {
    kernel.parallel d0 : 8 {
      %0 = kernel.reduce d1 : 16 [add] -> f32 {
        %1 = kernel.load %x[16 * d0 + d1] : f32
        kernel.store %1, %y[16 * d0 + d1]
        kernel.yield %1 : f32
      }
      kernel.parallel d1 : 16 {
        %2 = kernel.load %y[16 * d0 + d1] : f32
        %3 = scalar.sub %2, %0 : f32
        kernel.store %3, %y[16 * d0 + d1]
      }
    }
  }
  func.func @call(%x: !aten.t<f32[8, 16]>) -> !aten.t<f32[8, 8]> {
    %y = kernel.alloc : !aten.t<f32[8, 16]>
    kernel.launch @k(%x, %y)[]
    %z = kernel.extern "aten.mm.default"(%y, %y) args [#loop.arg<0>, #loop.arg<1>] : (!aten.t<f32[8, 16]>, !aten.t<f32[8, 16]>) -> !aten.t<f32[8, 8]>
    func.return %z : !aten.t<f32[8, 8]>
  }
}
"""  # noqa: E501


def test_a_module_becomes_kernels_and_calls() -> None:
    graph = read_module(MODULE)
    assert [(k.name, k.rows, kernel_bytes(k)) for k in graph.kernels] == [("k", 8, 1024)]
    assert [(c.name, c.bytes) for c in graph.calls] == [("aten.mm.default", 512 + 256)]


def test_rows_of_a_buffer_are_those_of_its_own_passes() -> None:
    """What stands behind the rows, such as the sum of threads' parts, has loops of its own."""
    loop = "    kernel.parallel d0 : 8 {"
    last = "    kernel.parallel d2 : 16 {\n      kernel.store %c, %w[d2]\n    }\n  }\n  func.func"
    text = MODULE
    for old, new in {
        "f32[128]>) []": "f32[128]>, write %w : !kernel.buf<f32[16]>) []",
        loop: f"    %c = scalar.constant 1.0 : f32\n{loop}",
        "  }\n  func.func": last,
        "(%x, %y)[]": "(%x, %y, %w)[]",
        "    kernel.launch": "    %w = kernel.alloc : !aten.t<f32[16]>\n    kernel.launch",
    }.items():
        text = text.replace(old, new, 1)
    (kernel,) = read_module(text).kernels
    assert kernel.rows == 1
    assert list(kernel.shared.values()) == [128, 8, 16]


def test_the_table_is_what_the_figures_say() -> None:
    """Regenerate with `make fusion-table`."""
    figures = json.loads(FIGURES.read_text())
    assert with_table(DOCUMENT.read_text(), figures) == DOCUMENT.read_text()
    assert not list(problems(figures["rows"])), "minductor moves more bytes in a row"
    assert float(table(figures).splitlines()[-1].split("|")[-2]) <= 0.85
