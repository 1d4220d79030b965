"""What a simulated thread costs: kernels by hand, with and without hooks. ``python -m tests.runtime.gpu.costs``."""

from __future__ import annotations

import time

import numpy as np

from tests.runtime.gpu.kernels import GOOD, ROWS, Call, compiled, device_of, hooks, number

SIZE = 1 << 18
SIDE = 512


def launches(call: Call) -> dict[str, tuple[int, object]]:
    """What is measured: the threads of a launch, and the launch."""
    x, a, partials = np.ones(SIZE), np.ones((SIDE, SIDE)), np.zeros(128)
    axpy = (number(2.5), call.put(x), call.put(x), number(SIZE))
    stencil = (call.put(a), call.put(a), number(SIDE), number(SIDE))
    ticket = call.put(np.zeros(1, np.int32))
    total = (call.put(x), call.put(partials), ticket, call.put(np.zeros(1)), number(SIZE))
    return {
        "axpy": (SIZE, ("axpy", [SIZE // 256], [256], axpy)),
        "stencil, 1 barrier": (SIDE * SIDE, ("stencil", [SIDE // 32, SIDE // 8], [32, 8], stencil)),
        "sum, 5 shuffles, 3 barriers": (128 * 256, ("sum", [128], [256], total)),
        "a launch": (1, ("axpy", [1], [1], (*axpy[:3], number(1)))),
    }


def seconds(call: Call, launch) -> float:
    name, blocks, threads, args = launch
    times = []
    for _ in range(5):
        start = time.process_time()
        call.device.launch(list(ROWS).index(name), blocks, threads, args)
        call.device.wait()
        times.append(time.process_time() - start)
    return sorted(times)[2]


def main() -> None:
    for watched in (False, True):
        library = compiled(GOOD, *ROWS.values(), flags=("-O1", *hooks()) if watched else ("-O3",))
        call = Call(device_of(library, seed=1, hooks=watched))
        for name, (threads, launch) in launches(call).items():
            spent = seconds(call, launch) / threads * 1e6
            print(f"{name + (', hooks' if watched else ''):40} {spent:8.3f} us")


if __name__ == "__main__":
    main()
