"""The kernels on grids, of bodies, and the networks, written out point by point; added to `definitions.LOOPS`."""

import math

import numpy as np

from tests.benchmarks.definitions import grid, loops


def inner(*sizes):
    """The points of a grid that are not on its boundary."""
    return (tuple(i + 1 for i in at) for at in grid(*[size - 2 for size in sizes]))


@loops
def jacobi_1d(TSTEPS, A, B):
    for _ in range(1, TSTEPS):
        for new, old in ((B, A), (A, B)):
            for (i,) in inner(*old.shape):
                new[i] = 0.33333 * (old[i - 1] + old[i] + old[i + 1])


@loops
def jacobi_2d(TSTEPS, A, B):
    for _ in range(1, TSTEPS):
        for new, old in ((B, A), (A, B)):
            for i, j in inner(*old.shape):
                new[i, j] = 0.2 * (old[i, j] + old[i, j - 1] + old[i, j + 1] + old[i - 1, j] + old[i + 1, j])


@loops
def heat_3d(TSTEPS, A, B):
    for _ in range(1, TSTEPS):
        for new, old in ((B, A), (A, B)):
            for i, j, k in inner(*old.shape):
                neighbours = (
                    old[i - 1, j, k]
                    + old[i + 1, j, k]
                    + old[i, j - 1, k]
                    + old[i, j + 1, k]
                    + old[i, j, k - 1]
                    + old[i, j, k + 1]
                )
                new[i, j, k] = 0.125 * neighbours + 0.25 * old[i, j, k]


@loops
def seidel_2d(TSTEPS, N, A):
    for _ in range(TSTEPS - 1):
        for i, j in inner(N, N):
            A[i, j] = sum(A[i + di - 1, j + dj - 1] for di, dj in grid(3, 3)) / 9.0


@loops
def fdtd_2d(TMAX, ex, ey, hz, _fict_):
    nx, ny = ex.shape
    for t in range(TMAX):
        for i, j in grid(nx, ny):
            ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j]) if i else _fict_[t]
            if j:
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i, j in grid(nx - 1, ny - 1):
            hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


@loops
def hdiff(in_field, out_field, coeff):
    def laplacian(i, j):
        return 4 * in_field[i, j] - in_field[i + 1, j] - in_field[i - 1, j] - in_field[i, j + 1] - in_field[i, j - 1]

    def flux(i, j, di, dj):
        """From a point to its neighbour; none where it would go up the slope."""
        flow = laplacian(i + di, j + dj) - laplacian(i, j)
        slope = in_field[i + di, j + dj] - in_field[i, j]
        return np.where(flow * slope > 0, 0, flow)

    for i, j in grid(*out_field.shape[:2]):
        x, y = i + 2, j + 2
        divergence = flux(x, y, 1, 0) - flux(x - 1, y, 1, 0) + flux(x, y, 0, 1) - flux(x, y - 1, 0, 1)
        out_field[i, j] = in_field[x, y] - coeff[i, j] * divergence


@loops
def adi(TSTEPS, N, u):
    """Each half step solves (1 + 2m) x[j] - m (x[j-1] + x[j+1]) = right-hand side, with 1 at both ends."""

    def solve(m, rhs):
        matrix = (1 + 2 * m) * np.eye(N) - m * (np.eye(N, k=1) + np.eye(N, k=-1))
        matrix[[0, -1]] = np.eye(N)[[0, -1]]
        return np.linalg.solve(matrix, np.array([1.0, *rhs, 1.0]))

    mx, my = N * N / TSTEPS, N * N / (2 * TSTEPS)
    for _ in range(TSTEPS):
        v = np.ones((N, N))
        for i in range(1, N - 1):
            v[:, i] = solve(mx, [my * u[j, i - 1] + (1 - 2 * my) * u[j, i] + my * u[j, i + 1] for j in range(1, N - 1)])
        for i in range(1, N - 1):
            u[i] = solve(my, [mx * v[i - 1, j] + (1 - 2 * mx) * v[i, j] + mx * v[i + 1, j] for j in range(1, N - 1)])


@loops
def deriche(alpha, imgIn):
    k = (1 - math.exp(-alpha)) ** 2 / (1 + alpha * math.exp(-alpha) - math.exp(2 * alpha))
    a = [k, k * math.exp(-alpha) * (alpha - 1), k * math.exp(-alpha) * (alpha + 1), -k * math.exp(-2 * alpha)]
    b = [2.0**-alpha, -math.exp(-2 * alpha)]

    def smooth(line):
        """The causal and the anticausal filter, added; before and after the line everything is zero."""
        n, x = len(line), [*line, 0.0, 0.0]
        forward, backward = [0.0] * (n + 2), [0.0] * (n + 2)  # x[-1], x[-2] are zeros as well
        for i in range(n):
            forward[i] = a[0] * x[i] + a[1] * x[i - 1] + b[0] * forward[i - 1] + b[1] * forward[i - 2]
        for i in range(n - 1, -1, -1):
            backward[i] = a[2] * x[i + 1] + a[3] * x[i + 2] + b[0] * backward[i + 1] + b[1] * backward[i + 2]
        return np.add(forward[:n], backward[:n])

    rows = np.array([smooth(row) for row in imgIn])
    return np.array([smooth(column) for column in rows.T]).T


@loops
def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    """The tridiagonal system of each column, solved densely."""
    ni, nj, nk = utens_stage.shape
    for i, j in grid(ni, nj):
        matrix, rhs = np.eye(nk) * dtr_stage, np.zeros(nk)
        u = u_stage[i, j]
        for k in range(nk):
            rhs[k] = dtr_stage * u_pos[i, j, k] + utens[i, j, k] + utens_stage[i, j, k]
            for neighbour, face, sign in ((k - 1, k, -1), (k + 1, k + 1, 1)):
                if 0 <= neighbour < nk:
                    wind = sign * 0.125 * (wcon[i + 1, j, face] + wcon[i, j, face])
                    matrix[k, neighbour] += wind
                    matrix[k, k] -= wind
                    rhs[k] -= wind * (u[neighbour] - u[k])
        utens_stage[i, j] = dtr_stage * (np.linalg.solve(matrix, rhs) - u_pos[i, j])


@loops
def cavity_flow(nx, ny, nt, nit, u, v, dt, dx, dy, p, rho, nu):
    def source(i, j):
        ux, uy = (u[i, j + 1] - u[i, j - 1]) / (2 * dx), (u[i + 1, j] - u[i - 1, j]) / (2 * dy)
        vx, vy = (v[i, j + 1] - v[i, j - 1]) / (2 * dx), (v[i + 1, j] - v[i - 1, j]) / (2 * dy)
        return rho * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)

    def relax(b):
        old = p.copy()
        for i, j in inner(ny, nx):
            around = (old[i, j + 1] + old[i, j - 1]) * dy**2 + (old[i + 1, j] + old[i - 1, j]) * dx**2
            p[i, j] = (around - dx**2 * dy**2 * b[i, j]) / (2 * (dx**2 + dy**2))
        p[:, -1], p[0], p[:, 0], p[-1] = p[:, -2].copy(), p[1].copy(), p[:, 1].copy(), 0
        p[0, -1], p[0, 0] = p[1, -2], p[1, 1]

    for _ in range(nt):
        un, vn, b = u.copy(), v.copy(), np.zeros((ny, nx))
        for i, j in inner(ny, nx):
            b[i, j] = source(i, j)
        for _ in range(nit):
            relax(b)
        for i, j in inner(ny, nx):
            gradient = (p[i, j + 1] - p[i, j - 1]) / dx, (p[i + 1, j] - p[i - 1, j]) / dy
            for new, old, slope in ((u, un, gradient[0]), (v, vn, gradient[1])):
                here = old[i, j]
                wind = un[i, j] * (here - old[i, j - 1]) / dx + vn[i, j] * (here - old[i - 1, j]) / dy
                bend = (old[i, j + 1] - 2 * here + old[i, j - 1]) / dx**2
                bend += (old[i + 1, j] - 2 * here + old[i - 1, j]) / dy**2
                new[i, j] = here + dt * (nu * bend - wind - slope / (2 * rho))
        u[0], u[:, 0], u[:, -1], u[-1] = 0, 0, 0, 1
        v[0], v[-1], v[:, 0], v[:, -1] = 0, 0, 0, 0


def convolved(images, filters):
    """Valid convolution, output by output, accumulated in float64."""
    n, height, width, _ = images.shape
    size, count = filters.shape[0], filters.shape[3]
    out = np.zeros((n, height - size + 1, width - size + 1, count))
    for at in grid(*out.shape):
        b, i, j, c = at
        out[at] = np.vdot(images[b, i : i + size, j : j + size].astype(float), filters[..., c].astype(float))
    return out


def pooled(images):
    n, height, width, channels = images.shape
    blocks = images[:, : height // 2 * 2, : width // 2 * 2].reshape(n, height // 2, 2, width // 2, 2, channels)
    return blocks.max(axis=4).max(axis=2)


def positive(x):
    return x * (x > 0)


@loops
def conv2d_bias(input, weights, bias):
    return convolved(input, weights) + bias


@loops
def lenet(input, conv1, conv1bias, conv2, conv2bias, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b, N, C_before_fc1):
    x = pooled(positive(convolved(input, conv1) + conv1bias))
    x = pooled(positive(convolved(x, conv2) + conv2bias)).reshape(N, -1)
    return positive(positive(x @ fc1w + fc1b) @ fc2w + fc2b) @ fc3w + fc3b


@loops
def mlp(input, w1, b1, w2, b2, w3, b3):
    x = positive(positive(input.astype(float) @ w1 + b1) @ w2 + b2) @ w3 + b3
    return np.exp(x) / np.exp(x).sum(axis=1)[:, None]


@loops
def resnet(input, conv1, conv2, conv3):
    def normalized(x):
        return (x - x.mean(axis=0)) / np.sqrt(x.std(axis=0) + 1e-5)

    x = np.pad(convolved(input, conv1), ((0, 0), (1, 1), (1, 1), (0, 0)))
    x = convolved(positive(normalized(x)), conv2)
    return positive(normalized(convolved(positive(normalized(x)), conv3)) + input)


@loops
def nbody(mass, pos, vel, N, Nt, dt, G, softening):
    """Leapfrog: half a kick, a drift, half a kick. The potential is not softened."""

    def kick():
        for i, j in grid(N, N):
            distance = math.sqrt(math.dist(pos[i], pos[j]) ** 2 + softening**2)
            vel[i] += dt / 2 * G * mass[j] * (pos[j] - pos[i]) / distance**3

    def energies():
        kinetic = sum(mass[i, 0] / 2 * (vel[i] @ vel[i]) for i in range(N))
        pairs = (G * mass[i, 0] * mass[j, 0] / math.dist(pos[i], pos[j]) for i in range(N) for j in range(i))
        return kinetic, -sum(pairs)

    vel -= sum(mass[i, 0] * vel[i] for i in range(N)) / mass.sum()
    history = [energies()]
    for _ in range(Nt):
        kick()
        pos += vel * dt
        kick()
        history.append(energies())
    return tuple(np.array(history).T)
