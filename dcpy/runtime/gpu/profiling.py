"""Times of a program's kernels: a table of all that its devices have run, slowest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dcpy.base.source import SrcSpan
from dcpy.runtime.gpu.device_table import Device

Row = tuple[str, str, int, float]  #: a kernel, where in Python it comes from, its launches, and their seconds


def kernel_times(devices: Iterable[Device]) -> str:
    """The table; raises `DeviceError` where a device has no times."""
    rows = sorted((row for device in devices for row in _rows(device)), key=lambda row: (-row[3], row[0]))
    total = sum(seconds for *_, seconds in rows)
    lines = [("kernel", "line", "launches", "ms", "us each", "share")]
    for kernel, place, launches, seconds in rows:
        share = f"{100 * seconds / total:.0f} %" if total else "-"
        lines.append((kernel, place, str(launches), f"{1e3 * seconds:.3f}", f"{1e6 * seconds / launches:.1f}", share))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_line(line, widths) for line in lines)


def _rows(device: Device) -> Iterator[Row]:
    for number, kernel in enumerate(device.kernels):
        launches, seconds = device.time_of(number)
        span: SrcSpan | None = device.kernel_spans.get(kernel)
        if launches:
            yield kernel, str(span or ""), launches, seconds


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    texts, numbers = 2, zip(cells[2:], widths[2:], strict=True)
    left = [f"{cell:{width}}" for cell, width in zip(cells[:texts], widths[:texts], strict=True)]
    return "  ".join([*left, *(f"{cell:>{width}}" for cell, width in numbers)])
