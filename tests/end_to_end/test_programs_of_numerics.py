"""Small numerical programs as scientists write them: each must give what NumPy gives, unmodified."""

import numpy as np

from tests.support.programs import checks_of

RNG = np.random.default_rng(7)
R, R2, S = RNG.random(12), RNG.random((6, 7)), RNG.random((5, 5))
SPD = S @ S.T + 5 * np.eye(5)
WORD = RNG.integers(0, 4, 9)


def adaptive_step(y, tend, tol):
    t = 0.0
    h = 0.1
    steps = 0
    while t < tend:
        if t + h > tend:
            h = tend - t
        k1 = -2 * y
        k2 = -2 * (y + h * k1)
        err = abs(0.5 * h * (k2 - k1))
        if err < tol:
            t += h
            y = y + 0.5 * h * (k1 + k2)
            steps += 1
        h *= min(2.0, max(0.2, 0.9 * (tol / (err + 1e-16)) ** 0.5))
    return (y, t, steps)


def newton_of_a_system(x):
    for k in range(20):
        F = np.array([x[0] ** 2 + x[1] ** 2 - 4, x[0] * x[1] - 1])
        J = np.array([[2 * x[0], 2 * x[1]], [x[1], x[0]]])
        dx = np.linalg.solve(J, -F)
        x = x + dx
        if np.linalg.norm(dx) < 1e-10:
            break
    return (x, k)


def welford(x):
    n = 0
    mean = 0.0
    m2 = 0.0
    for v in x:
        n += 1
        d = v - mean
        mean += d / n
        m2 += d * (v - mean)
    return (mean, m2 / (n - 1))


def k_means(X, k, n):
    C = X[:k].copy()
    lab = np.zeros(X.shape[0], dtype=np.int64)
    for _ in range(n):
        d = ((X[:, None, :] - C[None, :, :]) ** 2).sum(axis=2)
        lab = np.argmin(d, axis=1)
        for j in range(k):
            m = lab == j
            if m.any():
                C[j] = X[m].mean(axis=0)
    return (C, lab)


def kolmogorov_smirnov(a, b):
    a = np.sort(a)
    b = np.sort(b)
    allv = np.concatenate([a, b])
    ca = np.searchsorted(a, allv, side="right") / len(a)
    cb = np.searchsorted(b, allv, side="right") / len(b)
    return np.max(np.abs(ca - cb))


def gauss(A, b):
    A = A.copy()
    b = b.copy()
    n = len(b)
    for k in range(n):
        p = np.argmax(np.abs(A[k:, k])) + k
        if p != k:
            A[[k, p]] = A[[p, k]]
            b[k], b[p] = (b[p], b[k])
        for i in range(k + 1, n):
            m = A[i, k] / A[k, k]
            A[i, k:] -= m * A[k, k:]
            b[i] -= m * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


def conjugate_gradients(A, b, tol):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    it = 0
    while np.sqrt(rs) > tol and it < 100:
        Ap = A @ p
        al = rs / (p @ Ap)
        x += al * p
        r -= al * Ap
        rn = r @ r
        p = r + rn / rs * p
        rs = rn
        it += 1
    return (x, it)


def gram_schmidt(A):
    m, n = A.shape
    Q = np.zeros((m, n))
    Rr = np.zeros((n, n))
    for j in range(n):
        v = A[:, j].copy()
        for i in range(j):
            Rr[i, j] = Q[:, i] @ A[:, j]
            v -= Rr[i, j] * Q[:, i]
        Rr[j, j] = np.linalg.norm(v)
        Q[:, j] = v / Rr[j, j]
    return (Q, Rr)


def thomas(a, b, c, d):
    n = len(d)
    cp = np.zeros(n)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m if i < n - 1 else 0.0
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


def fft_in_place(x):
    n = x.shape[0]
    y = x.astype(np.complex128)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            y[i], y[j] = (y[j], y[i])
    L = 2
    while n >= L:
        w = np.exp(-2j * np.pi * np.arange(L // 2) / L)
        for s in range(0, n, L):
            u = y[s : s + L // 2].copy()
            v = y[s + L // 2 : s + L] * w
            y[s : s + L // 2] = u + v
            y[s + L // 2 : s + L] = u - v
        L *= 2
    return y


def recursive_filter(b, a, x):
    y = np.zeros_like(x)
    for n in range(len(x)):
        for k in range(len(b)):
            if n - k >= 0:
                y[n] += b[k] * x[n - k]
        for k in range(1, len(a)):
            if n - k >= 0:
                y[n] -= a[k] * y[n - k]
        y[n] /= a[0]
    return y


def haar(x):
    y = x.copy()
    n = len(y)
    while n > 1:
        h = n // 2
        s = (y[0:n:2] + y[1:n:2]) / np.sqrt(2)
        d = (y[0:n:2] - y[1:n:2]) / np.sqrt(2)
        y[:h] = s
        y[h:n] = d
        n = h
    return y


def kalman(z, dt):
    F = np.array([[1, dt], [0, 1]])
    H = np.array([[1.0, 0.0]])
    Q = 0.01 * np.eye(2)
    Rn = np.array([[0.1]])
    x = np.zeros((2, 1))
    P = np.eye(2)
    out = np.zeros(len(z))
    for i in range(len(z)):
        x = F @ x
        P = F @ P @ F.T + Q
        y = z[i] - H @ x
        S = H @ P @ H.T + Rn
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ y
        P = (np.eye(2) - K @ H) @ P
        out[i] = x[0, 0]
    return (out, P)


def poisson(f, tol, maxit):
    p = np.zeros_like(f)
    it = 0
    err = tol + 1
    while err > tol and it < maxit:
        pn = p.copy()
        p[1:-1, 1:-1] = 0.25 * (pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1] - f[1:-1, 1:-1])
        p[:, 0] = p[:, 1]
        p[0, :] = 0
        err = np.abs(p - pn).max()
        it += 1
    return (p, it, err)


def gray_scott(U, V, n, Du=0.16, Dv=0.08, F=0.035, k=0.065):

    def lap(Z):
        return np.roll(Z, 1, 0) + np.roll(Z, -1, 0) + np.roll(Z, 1, 1) + np.roll(Z, -1, 1) - 4 * Z

    for _ in range(n):
        uvv = U * V * V
        U, V = (U + Du * lap(U) - uvv + F * (1 - U), V + Dv * lap(V) + uvv - (F + k) * V)
    return (U, V)


def viterbi(obs, A, B, pi):
    T = len(obs)
    N = len(pi)
    d = np.zeros((T, N))
    psi = np.zeros((T, N), dtype=int)
    d[0] = np.log(pi) + np.log(B[:, obs[0]])
    for t in range(1, T):
        for j in range(N):
            s = d[t - 1] + np.log(A[:, j])
            psi[t, j] = np.argmax(s)
            d[t, j] = s.max() + np.log(B[j, obs[t]])
    path = np.zeros(T, dtype=int)
    path[-1] = np.argmax(d[-1])
    for t in range(T - 2, -1, -1):
        path[t] = psi[t + 1, path[t + 1]]
    return (path, d)


def householder(A):
    m, n = A.shape
    Q = np.eye(m)
    for k in range(n):
        v = A[k:, k].copy()
        v[0] += np.sign(v[0]) * np.sqrt(v @ v)
        v /= np.sqrt(v @ v)
        A[k:, k:] -= 2 * np.outer(v, v @ A[k:, k:])
        Q[:, k:] -= 2 * np.outer(Q[:, k:] @ v, v)
    return (Q, A)


def interpolate(x, y, xq):
    n = len(x)
    out = np.empty(len(xq))
    for k, q in enumerate(xq):
        i = np.searchsorted(x, q) - 1
        i = min(max(i, 0), n - 2)
        t = (q - x[i]) / (x[i + 1] - x[i])
        out[k] = (1 - t) * y[i] + t * y[i + 1]
    return out


PROGRAMS = [
    (adaptive_step, (1.0, 1.0, 0.0001), 1e-12),
    (newton_of_a_system, (np.array([2.0, 0.3]),), 1e-10),
    (welford, (R,), 1e-12),
    (k_means, (R2[:, :2], 3, 4), 1e-12),
    (kolmogorov_smirnov, (R, R[:7] * 1.1), 0),
    (gauss, (S, R[:5]), 1e-09),
    (conjugate_gradients, (SPD, R[:5], 1e-10), 1e-08),
    (gram_schmidt, (R2[:, :3],), 1e-09),
    (thomas, (R, R + 4, R, R), 1e-10),
    (fft_in_place, (R[:8],), 1e-10),
    (recursive_filter, (R[:3], np.array([1.0, -0.3, 0.1]), R), 1e-12),
    (haar, (R[:8],), 1e-12),
    (householder, (RNG.random((7, 4)),), 1e-09),  # in compiled code, too
    (kalman, (R, 0.1), 1e-09),
    (poisson, (R2, 0.001, 30), 1e-12),
    (gray_scott, (R2, R2 * 0.5, 3), 1e-12),
    (viterbi, (WORD, np.array([[0.7, 0.3], [0.4, 0.6]]), R2[:2, :4] + 0.1, np.array([0.5, 0.5])), 1e-12),
    (interpolate, (np.sort(R), R, np.array([0.1, 0.5, 0.95])), 1e-12),
]

test_programs, test_programs_in_compiled_code = checks_of(PROGRAMS)
