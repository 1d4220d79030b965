"""N-body problem: a disc of bodies that turns under its own gravity.

All pairs attract each other. NumPy needs an array of n x n x 2 offsets; the compiled program does not.
"""

import numpy as np

import dcpy

SMALL, LARGE = 8, 300


@dcpy.program(auto_optimize=True)
def n_body(position, velocity, mass, steps, dt):
    paths = np.zeros((steps, position.shape[0], 2))
    for t in range(steps):
        offset = position[None, :, :] - position[:, None, :]
        squared = (offset**2).sum(axis=-1) + 0.01
        pull = mass[None, :] / (squared * np.sqrt(squared))
        velocity += dt * (offset * pull[:, :, None]).sum(axis=1)
        position += dt * velocity
        paths[t] = position
    return paths


def initialize(n):
    rng = np.random.default_rng(0)
    radius, angle = np.sqrt(rng.random(n)) + 0.2, 2 * np.pi * rng.random(n)
    position = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    velocity = 0.8 * np.stack([-np.sin(angle), np.cos(angle)], axis=-1)
    return {"position": position, "velocity": velocity, "mass": np.full(n, 1 / n), "steps": 40, "dt": 0.02}


def draw(axes, result):
    axes.plot(result[:, :, 0], result[:, :, 1], linewidth=0.5)
    axes.plot(result[-1, :, 0], result[-1, :, 1], "k.", markersize=2)
    axes.set_aspect("equal")
