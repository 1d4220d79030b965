"""What must hold of a kernel's result, by mathematics: `PROPERTIES[name](before, after, result)`."""

import math

import numpy as np

same = np.testing.assert_allclose
PROPERTIES = {}


def holds(function):
    PROPERTIES[function.__name__] = function
    return function


@holds
def arc_distance(before, after, result):
    """The angle between the unit vectors of latitude theta and longitude phi."""

    def unit(theta, phi):
        return np.array([np.cos(theta) * np.cos(phi), np.cos(theta) * np.sin(phi), np.sin(theta)])

    one, other = unit(before["theta_1"], before["phi_1"]), unit(before["theta_2"], before["phi_2"])
    same(result, np.arccos((one * other).sum(axis=0)), rtol=1e-6)


@holds
def azimint_naive(before, after, result):
    """Means of rings; rounding decides whether the outermost point belongs to the last."""
    edges = before["radius"].max() * np.arange(before["npt"] + 1) / before["npt"]
    ring = np.digitize(before["radius"], edges) - 1
    same(result, [before["data"][ring == i].mean() for i in range(before["npt"])])


@holds
def azimint_hist(before, after, result):
    radius = before["radius"]
    edges = np.linspace(radius.min(), radius.max(), before["npt"] + 1)
    ring = np.minimum(np.digitize(radius, edges) - 1, before["npt"] - 1)
    same(result, [before["data"][ring == i].mean() for i in range(before["npt"])])


@holds
def cholesky(before, after, result):
    factor = np.tril(after["A"])
    same(factor @ factor.T, before["A"])
    same(np.triu(after["A"], 1), np.triu(before["A"], 1))


PROPERTIES["cholesky2"] = cholesky


@holds
def lu(before, after, result):
    lower, upper = np.tril(after["A"], -1) + np.eye(len(after["A"])), np.triu(after["A"])
    same(lower @ upper, before["A"])


@holds
def ludcmp(before, after, result):
    x, y = result
    lu(before, after, None)
    same(before["A"] @ x, before["b"])
    same(np.triu(after["A"]) @ x, y)


@holds
def trisolv(before, after, result):
    same(before["L"] @ after["x"], before["b"])


@holds
def durbin(before, after, result):
    """The Yule-Walker system: a Toeplitz matrix of 1, r[0], ..., r[n-2] times y is -r."""
    r = before["r"]
    row = np.concatenate(([1.0], r[:-1]))
    toeplitz = row[abs(np.subtract.outer(np.arange(len(r)), np.arange(len(r))))]
    same(toeplitz @ result, -r)


@holds
def gramschmidt(before, after, result):
    q, r = result
    same(q @ r, before["A"])
    same(q.T @ q, np.eye(r.shape[0]), atol=1e-12)
    same(np.tril(r, -1), 0)


@holds
def stockham_fft(before, after, result):
    same(after["y"], np.fft.fft(before["x"]))


@holds
def covariance(before, after, result):
    same(result, np.cov(before["data"].T))


PROPERTIES["covariance2"] = covariance


@holds
def correlation(before, after, result):
    same(result, np.corrcoef(before["data"].T), atol=1e-12)


@holds
def softmax(before, after, result):
    x = before["x"].astype(np.float64)
    same(result, np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True), rtol=1e-5)


@holds
def contour_integral(before, after, result):
    """Each point adds the solution of one system; points inside the unit circle count negative."""
    zeroth, first = 0, 0
    for z in before["int_pts"]:
        matrix = before["Ham"][0] * z + before["Ham"][1] + before["Ham"][2] / z
        x = math.copysign(1, abs(z) - 1) * (np.linalg.inv(matrix) @ before["Y"])
        zeroth, first = zeroth + x, first + z * x
    same(result[0], zeroth)
    same(result[1], first)


@holds
def nussinov(before, after, result):
    """The best folding of every piece, by trying all partners of its last base. Neighbours never pair."""
    seq = before["seq"]
    best = {}

    def score(i, j):
        if j <= i:
            return 0
        if (i, j) not in best:
            pairs = [score(i, k - 1) + score(k + 1, j - 1) + (seq[k] + seq[j] == 3) for k in range(i, j - 1)]
            best[i, j] = max([score(i, j - 1), *pairs])
        return best[i, j]

    n = before["N"]
    same(result, [[score(i, j) for j in range(n)] for i in range(n)])


@holds
def channel_flow(before, after, result):
    """The walls do not move; everything is the same along the channel; the flow has become steady."""
    assert result > 1
    assert np.all(after["u"][[0, -1]] == 0)
    same(after["u"], np.broadcast_to(after["u"][:, :1], after["u"].shape))
    assert np.all(after["u"][1:-1] > 0)
    same(after["v"], 0, atol=1e-12)


@holds
def crc16(before, after, result):
    """The remainder of the reflected message, as table-driven implementations compute it (CRC-16/X-25)."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ 0x8408 if byte & 1 else byte >> 1
        table.append(byte)
    crc = 0xFFFF
    for byte in before["data"].tolist():
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFF
    assert result == int.from_bytes(crc.to_bytes(2, "little"), "big")
