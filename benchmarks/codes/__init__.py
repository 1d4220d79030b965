"""Programs as people write them, each from the published equations of its field: what compile times are measured on.

Each module has a function ``program`` that calls the others, and ``arguments(n)``, its arguments at a size.
"""

NAMES = (
    "sea_water",
    "smoke",
    "isoneutral",
    "turbulence",
    "lattice_boltzmann",
    "magnetohydrodynamics",
    "harris",
    "black_scholes",
    "smoothed_particles",
)
