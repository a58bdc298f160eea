"""The micro workloads: family tables joined, name -> builder."""

from bench.workload import Build
from bench.workloads import index, layout, matmul, norms, pointwise, reduce, spatial

MICRO: dict[str, Build] = {
    **pointwise.TABLE,
    **layout.TABLE,
    **reduce.TABLE,
    **norms.TABLE,
    **index.TABLE,
    **spatial.TABLE,
    **matmul.TABLE,
}
