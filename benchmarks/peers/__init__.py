"""Who takes part in a comparison: each framework's name, package, interpreter, and how a kernel's source becomes its.

The text that an adaptation makes is the text that runs, so line counts and coverage are counted, not claimed.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.peers import adapt, by_hand, toolchains
from benchmarks.peers.adapt_dace import for_dace
from benchmarks.peers.adapt_jax import for_jax
from benchmarks.peers.calls import DaceCall, JaxCall, PlainCall

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENTS = ROOT / ".venv-peers"


def openmp(threads: int) -> dict[str, str]:
    """What OpenMP and the BLAS libraries read; everyone gets it."""
    return {f"{library}_NUM_THREADS": str(threads) for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}


def _jax(threads: int) -> dict[str, str]:
    single = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    return {**openmp(threads), **({"XLA_FLAGS": single} if threads == 1 else {})}


@dataclass(frozen=True)
class Framework:
    """One column of the table. Each of `variants` is measured, and the fastest that is right counts.

    `package` is what it is imported as. NumPy and dcpy are those of this interpreter, peers have their own. In the
    values of `environment`, ``{folder}`` stands for a folder of the process's own, which `setup` fills, and
    ``{prefix}`` for the environment of the interpreter. `on_threads` is what more it reads to have so many threads.
    `reference` is how NumPy is called and compared beside it, `entry` the function's name in the text.
    """

    name: str
    package: str
    variants: Sequence[adapt.Adaptation]
    call: type[PlainCall] = PlainCall
    environment: Mapping[str, str] = field(default_factory=dict)
    setup: Callable[[Path], None] = toolchains.nothing
    on_threads: Callable[[int], Mapping[str, str]] = openmp
    reference: type[PlainCall] = PlainCall
    entry: Callable[[str], str] = str

    @property
    def is_by_hand(self) -> bool:
        """Whether its kernels are files of NPBench, not the same source as everybody's."""
        return self.name.endswith(by_hand.SUFFIX)

    @property
    def python(self) -> Path | None:
        """The interpreter that has the package: one of its own (`make bench-peers`), or this one; None: it has none."""
        python = ENVIRONMENTS / self.package / "bin" / "python"
        if self.package not in ("numpy", "dcpy") and python.exists():
            return python
        return Path(sys.executable) if importlib.util.find_spec(self.package) is not None else None


_ADAPTED = {
    framework.name: framework
    for framework in (
        Framework("numpy", "numpy", (adapt.unchanged,)),
        Framework("dcpy", "dcpy", (adapt.for_dcpy,), environment={"DCPY_CACHE_DIR": "{folder}"}),
        Framework("dcpy-plain", "dcpy", (adapt.for_dcpy_plain,), environment={"DCPY_CACHE_DIR": "{folder}"}),
        Framework("numba", "numba", (adapt.for_numba, adapt.for_numba_parallel)),
        Framework(
            "pythran",
            "pythran",
            (adapt.for_pythran,),
            environment={"PYTHRANRC": "{folder}/pythranrc"},
            setup=toolchains.for_pythran,
        ),
        Framework(
            "dace",
            "dace",
            (for_dace,),
            DaceCall,
            {
                "DACE_default_build_folder": "{folder}/dacecache",
                "MKLROOT": "{folder}/mkl",
                "MKL_THREADING_LAYER": "GNU",
                "LD_LIBRARY_PATH": "{prefix}/lib",
            },
            toolchains.for_dace,
        ),
        Framework("jax", "jax", (for_jax,), JaxCall, {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}, on_threads=_jax),
    )
}


def _by_hand(package: str, variants: Sequence[adapt.Adaptation], call: type[PlainCall]) -> Framework:
    name = package + by_hand.SUFFIX
    return replace(
        _ADAPTED[package], name=name, variants=variants, call=call, reference=by_hand.OutputsCall, entry=by_hand.entry
    )


FRAMEWORKS = _ADAPTED | {
    framework.name: framework
    for framework in (
        _by_hand("numba", [by_hand.form(ending) for ending in by_hand.NUMBA], by_hand.OutputsCall),
        _by_hand("pythran", [by_hand.form("pythran")], by_hand.OutputsCall),
        _by_hand("dace", [by_hand.form("dace", "\n{entry}.auto_optimize = True\n")], by_hand.DaceOutputsCall),
        _by_hand("jax", [by_hand.form("jax"), by_hand.form("jax_lib")], by_hand.JaxOutputsCall),
    )
}
