# lit's configuration: `lit test/lit`, or `make lit`.
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
sys.path[:0] = [here, root]

from mini_format import InProcessFormat, warm_up  # noqa: E402

config.name = "minductor"  # noqa: F821
config.suffixes = [".mlir", ".test"]  # noqa: F821
config.excludes = ["Inputs", "Output"]  # noqa: F821
config.test_source_root = here  # noqa: F821
config.test_exec_root = os.path.join(root, "build", "lit")  # noqa: F821
config.test_format = InProcessFormat(  # noqa: F821
    {
        "mini-opt": "minductor.tools.mini_opt:main",
        "mini-run": "minductor.tools.mini_run:main",
    }
)

# The substitutions of the three standard tests of a dialect.
config.substitutions += [  # noqa: F821
    (
        "%roundtrip",
        "mini-opt %s --split-input-file | mini-opt --split-input-file | filecheck %s",
    ),
    (
        "%generic",
        "mini-opt %s --split-input-file --print-op-generic"
        " | mini-opt --split-input-file | filecheck %s",
    ),
    (
        "%invalid",
        "mini-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s",
    ),
    ("%python", sys.executable),
]

# What goes through the shell finds this environment's tools, and this checkout.
environment = config.environment  # noqa: F821
environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
environment["PYTHONPATH"] = root
config.maxIndividualTestTime = 20  # noqa: F821

warm_up()
