"""GPU code generation: from an SDFG in codegen form to the host's unit and that of its kernels, as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dcpy.base.library_environment import Environment
from dcpy.base.options import Options
from dcpy.codegen.artifact import Artifact, Signature
from dcpy.codegen.emit.host_dialects import dialect_of
from dcpy.codegen.generate import declared_by, environments_of, host_artifact
from dcpy.codegen.gpu import units
from dcpy.codegen.lir.verify import require_valid
from dcpy.codegen.lower.gpu.gpu_lowering import GpuLowering
from dcpy.codegen.lower.program.translation_unit import lower_program
from dcpy.codegen.signature import default_signature
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.sdfg import Sdfg


def generate_gpu(
    sdfg: Sdfg,
    signature: Signature | None = None,
    environments: Mapping[str, Environment] | None = None,
    options: Options | None = None,
    costs: Costs = COSTS,
) -> Artifact:
    """The program of `sdfg`, which must be in codegen form (`transforms.gpu.lowering` brings it there), as `generate`.
    """
    chosen = options or Options()
    called_as = signature or default_signature(sdfg)
    known = dict(environments or {})
    module = lower_program(sdfg, called_as, chosen.cpu, known, costs, device=GpuLowering(chosen.gpu))
    used = [*environments_of(sdfg, module, known), units.HOST]
    require_valid(module.finished(), declared_by(used))
    host = host_artifact(module, called_as, dialect_of(chosen), used)
    kernels = units.device_units(module.finished(), module.base)
    return replace(host, units=(*host.units, *kernels), kernels=units.described(module.kernels))
