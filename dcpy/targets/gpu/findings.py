"""GPU findings: devices and compilers of kernels on this machine, and what was measured of the devices."""

from __future__ import annotations

from collections.abc import Iterator

from dcpy.base.errors import DcpyError
from dcpy.base.options import Options
from dcpy.runtime.storage.cache import Cache
from dcpy.targets.findings import Finding


def findings() -> Iterator[Finding]:
    """Devices, and compilers of kernels. Nothing is built where there is no driver."""
    from dcpy.base.options import resolve_options
    from dcpy.runtime.gpu.hipcc import find_hipcc
    from dcpy.runtime.gpu.nvrtc import find_nvidia_compiler

    options = resolve_options()
    yield _device("GPU: cuda", "cuda", options)
    yield _device("GPU: hip", "hip", options)
    for what, find in (("kernels: NVIDIA", find_nvidia_compiler), ("kernels: AMD", find_hipcc)):
        try:
            compiler = find()
        except DcpyError as error:
            yield Finding(what, False, error.help)
        else:
            yield Finding(what, True, f"{compiler.id}, for {', '.join(compiler.architectures)}")


def _device(what: str, backend: str, options: Options) -> Finding:
    from dcpy.runtime.gpu.drivers import is_installed, open_context

    if not is_installed(backend, options):
        return Finding(what, False, "there is no driver; gpu.backend = simulator runs kernels on the CPU, slowly")
    try:
        facts = open_context(backend, options).facts()
    except DcpyError as error:
        return Finding(what, False, "; ".join((error.message, *error.notes)))
    memory = f"{facts.free / 2**30:.1f} of {facts.total / 2**30:.1f} GiB free"
    version = f"driver {facts.version // 1000}.{facts.version % 1000 // 10}"
    return Finding(what, True, f"{facts.name}, {facts.arch}, {facts.processors} processors, {memory}, {version}")


def measured_lines(options: Options) -> Iterator[str]:
    """Lines about what was measured on each device that there is; compilation goes by these figures from now on."""
    from dcpy.runtime.gpu.calibration import measure
    from dcpy.runtime.gpu.drivers import open_context
    from dcpy.runtime.gpu.measured_costs import keep

    devices = [backend for backend in ("cuda", "hip") if _device("", backend, options).found]
    if not devices:
        yield "no GPU: nothing is measured, and nothing is known about time on one"
    for backend in devices:
        yield f"constants of the {backend} device, measured now:"
        try:
            found = measure(backend, options)
            arch = open_context(backend, options).facts().arch
        except DcpyError as error:
            yield f"        not measured: {error.message}"
            continue
        yield from (f"        {name:24}{figure}" for name, figure in found.rows())
        try:
            keep(Cache(options.cache_dir), arch, found)
        except OSError as error:
            yield f"        not kept: {error}"
