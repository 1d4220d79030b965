"""Who takes part in the comparison on GPUs: dcpy, CuPy, JAX and PyTorch, with arrays on the device and 64 bits.

What each is given: its own import or decorator (`adapt`), and what it cannot do without (`adapt_torch`, `adapt_jax`);
how it is called, and by which clock, is in `calls`. Each keeps what it has compiled in a folder of its own,
``{folder}``.
"""

from __future__ import annotations

from benchmarks.devices.adapt import for_cupy, for_dcpy
from benchmarks.devices.adapt_torch import for_torch
from benchmarks.devices.calls import CupyCall, DcpyCall, JaxDeviceCall, TorchCall
from benchmarks.peers import Framework
from benchmarks.peers.adapt_jax import for_jax

EXACT = {"NVIDIA_TF32_OVERRIDE": "0"}  #: NVIDIA's libraries multiply float32 in float32, for whoever calls them
FRAMEWORKS = {
    framework.name: framework
    for framework in (
        Framework("dcpy", "dcpy", (for_dcpy,), DcpyCall, EXACT | {"DCPY_CACHE_DIR": "{folder}"}),
        Framework("cupy", "cupy", (for_cupy,), CupyCall, EXACT | {"CUPY_CACHE_DIR": "{folder}"}),
        Framework(
            "jax-gpu",
            "jax",
            (for_jax,),
            JaxDeviceCall,
            EXACT
            | {
                "JAX_ENABLE_X64": "1",
                "JAX_DEFAULT_MATMUL_PRECISION": "highest",
                "JAX_COMPILATION_CACHE_DIR": "{folder}",
                "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
            },
        ),
        Framework(
            "torch",
            "torch",
            (for_torch,),
            TorchCall,
            EXACT
            | {
                "TORCHINDUCTOR_CACHE_DIR": "{folder}",
                "TRITON_CACHE_DIR": "{folder}/triton",
                "TORCHINDUCTOR_COMPILE_THREADS": "1",  # many kernels are compiled at once, each in its process
            },
        ),
    )
}
BASELINE = "cupy"  #: what the heat map compares with: the arrays of NumPy's own words on a device
