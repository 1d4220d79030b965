"""Horizontal diffusion of a weather model: Laplacian, limited fluxes, update."""

import numpy as np

import dcpy


@dcpy.program
def hdiff(in_field, out_field, coeff):
    rows, columns = out_field.shape[0], out_field.shape[1]
    lap_field = 4.0 * in_field[1 : rows + 3, 1 : columns + 3, :] - (
        in_field[2 : rows + 4, 1 : columns + 3, :]
        + in_field[0 : rows + 2, 1 : columns + 3, :]
        + in_field[1 : rows + 3, 2 : columns + 4, :]
        + in_field[1 : rows + 3, 0 : columns + 2, :]
    )

    res = lap_field[1:, 1 : columns + 1, :] - lap_field[:-1, 1 : columns + 1, :]
    flx_field = np.where(
        (res * (in_field[2 : rows + 3, 2 : columns + 2, :] - in_field[1 : rows + 2, 2 : columns + 2, :])) > 0,
        0,
        res,
    )

    res = lap_field[1 : rows + 1, 1:, :] - lap_field[1 : rows + 1, :-1, :]
    fly_field = np.where(
        (res * (in_field[2 : rows + 2, 2 : columns + 3, :] - in_field[2 : rows + 2, 1 : columns + 2, :])) > 0,
        0,
        res,
    )

    out_field[:, :, :] = in_field[2 : rows + 2, 2 : columns + 2, :] - coeff[:, :, :] * (
        flx_field[1:, :, :] - flx_field[:-1, :, :] + fly_field[:, 1:, :] - fly_field[:, :-1, :]
    )


def initialize(n, dtype=np.float64):
    """Arguments for a field of `n` by `n` points and 5 levels, with a halo of 2 points."""
    rng = np.random.default_rng(42)
    return {
        "in_field": rng.random((n + 4, n + 4, 5)).astype(dtype),
        "out_field": rng.random((n, n, 5)).astype(dtype),
        "coeff": rng.random((n, n, 5)).astype(dtype),
    }
