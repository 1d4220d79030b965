"""Great-circle distance between pairs of points, in radians. Domain: geometry."""

import numpy as np


def arc_distance(theta_1, phi_1, theta_2, phi_2):
    temp = np.sin((theta_2 - theta_1) / 2) ** 2 + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    return 2 * np.arctan2(np.sqrt(temp), np.sqrt(1 - temp))


def initialize(N):
    """Arguments for `N` pairs of points."""
    rng = np.random.default_rng(42)
    return {name: rng.random(N) for name in ("theta_1", "phi_1", "theta_2", "phi_2")}
