"""Scattering self-energies of electrons with phonons (quantum transport). Domain: physics."""

import numpy as np


def scattering_self_energies(neigh_idx, dH, G, D, Sigma):
    for k in range(G.shape[0]):
        for E in range(G.shape[1]):
            for q in range(D.shape[0]):
                for w in range(D.shape[1]):
                    for i in range(D.shape[-2]):
                        for j in range(D.shape[-1]):
                            for a in range(neigh_idx.shape[0]):
                                for b in range(neigh_idx.shape[1]):
                                    if E - w >= 0:
                                        dHG = G[k, E - w, neigh_idx[a, b]] @ dH[a, b, i]
                                        dHD = dH[a, b, j] * D[q, w, a, b, i, j]
                                        Sigma[k, E, a] += dHG @ dHD


def initialize(Nkz, NE, Nqz, Nw, N3D, NA, NB, Norb):
    """`NA` atoms with `NB` neighbours each and `Norb` orbitals; momenta, energies and frequencies."""
    rng = np.random.default_rng(42)

    def complex_random(*shape):
        return rng.random(shape) + rng.random(shape) * 1j

    return {
        "neigh_idx": (np.arange(NA, dtype=np.int32)[:, None] + np.arange(NB, dtype=np.int32) - NB // 2) % NA,
        "dH": complex_random(NA, NB, N3D, Norb, Norb),
        "G": complex_random(Nkz, NE, NA, Norb, Norb),
        "D": complex_random(Nqz, Nw, NA, NB, N3D, N3D),
        "Sigma": np.zeros((Nkz, NE, NA, Norb, Norb), dtype=np.complex128),
    }
