"""Sea water: density, and the derivatives of dynamic enthalpy by temperature and salinity.

The specific volume is a quotient of polynomials in conservative temperature, absolute salinity and pressure with the 48
coefficients of TEOS-10 (McDougall et al., 2010, appendix K); dynamic enthalpy is its integral over pressure, in closed
form, and its derivatives follow by the chain rule: ``n / d = c1 p + c0 + (m1 p + m0) / (b0 + 2 b1 p + b2 p^2)``.
"""

import numpy as np

D00, D01, D02, D03 = 9.998420897506056e2, 2.839940833161907, -3.147759265588511e-2, 1.181805545074306e-3
D10, D11, D12 = -6.698001071123802, -2.986498947203215e-2, 2.327859407479162e-4
D20, D21, D22, D23 = -3.988822378968490e-2, 5.095422573880500e-4, -1.426984671633621e-5, 1.645039373682922e-7
D30, D31, D32 = -2.233269627352527e-2, -3.436090079851880e-4, 3.726050720345733e-6
D40, D41 = -1.806789763745328e-4, 6.876837219536232e-7
D50, D51, D52, D60 = -3.087032500374211e-7, -1.988366587925593e-8, -1.061519070296458e-11, 1.550932729220080e-10
N00, N01, N02, N03 = 1.0, 2.775927747785646e-3, -2.349607444135925e-5, 1.119513357486743e-6
N04 = 6.743689325042773e-10
N10, N11, N12, N13 = -7.521448093615448e-3, -2.764306979894411e-5, 1.262937315098546e-7, 9.527875081696435e-10
N14 = -1.811147201949891e-11
N20, N21, N22, N23 = -3.303308871386421e-5, 3.801564588876298e-7, -7.672876869259043e-9, -4.634182341116144e-11
N24, N25 = 2.681097235569143e-12, 5.419326551148740e-6
N30, N31, N32, N33 = -2.742185394906099e-5, -3.212746477974189e-7, 3.191413910561627e-9, -1.931012931541776e-12
N40, N41 = -1.105097577149576e-7, 6.211426728363857e-10
N50, N51, N52, N53 = -1.119011592875110e-10, -1.941660213148725e-11, -1.864826425365600e-14, 1.119522344879478e-14
N60, N61 = -1.200507748551599e-15, 6.057902487546866e-17
DB2PA = 1e4


def density(s, t, p):
    """In-situ density, kg/m^3."""
    root = np.sqrt(s)
    upper = (
        D00 + t * (D01 + t * (D02 + D03 * t))
        + s * (D10 + t * (D11 + D12 * t) + root * (D20 + t * (D21 + t * (D22 + D23 * t))))
        + p * (D30 + t * (D31 + D32 * t) + s * (D40 + D41 * t) + p * (D50 + t * (D51 + D52 * t) + D60 * s))
    )  # fmt: skip
    lower = (
        N00 + t * (N01 + t * (N02 + t * (N03 + N04 * t)))
        + s * (N10 + t * (N11 + t * (N12 + t * (N13 + N14 * t))) + N25 * s
               + root * (N20 + t * (N21 + t * (N22 + t * (N23 + N24 * t)))))
        + p * (N30 + t * (N31 + t * (N32 + N33 * t)) + s * (N40 + N41 * t)
               + p * (N50 + t * (N51 + N52 * t) + N53 * s * t + p * (N60 + N61 * t)))
    )  # fmt: skip
    return upper / lower


def enthalpy_by_temperature(s, t, p):
    """The derivative of dynamic enthalpy by conservative temperature, J/(kg K)."""
    root = np.sqrt(s)
    b0 = D00 + t * (D01 + t * (D02 + D03 * t)) + s * (D10 + t * (D11 + D12 * t))
    b0 = b0 + s * root * (D20 + t * (D21 + t * (D22 + D23 * t)))
    b1 = 0.5 * (D30 + t * (D31 + D32 * t) + s * (D40 + D41 * t))
    b2 = D50 + t * (D51 + D52 * t) + D60 * s
    a0 = N00 + t * (N01 + t * (N02 + t * (N03 + N04 * t))) + s * (N10 + t * (N11 + t * (N12 + t * (N13 + N14 * t))))
    a0 = a0 + N25 * s * s + s * root * (N20 + t * (N21 + t * (N22 + t * (N23 + N24 * t))))
    a1 = N30 + t * (N31 + t * (N32 + N33 * t)) + s * (N40 + N41 * t)
    a2 = N50 + t * (N51 + N52 * t) + N53 * s * t
    a3 = N60 + N61 * t

    b0_t = D01 + t * (2.0 * D02 + 3.0 * D03 * t) + s * (D11 + 2.0 * D12 * t)
    b0_t = b0_t + s * root * (D21 + t * (2.0 * D22 + 3.0 * D23 * t))
    b1_t = 0.5 * (D31 + 2.0 * D32 * t + D41 * s)
    b2_t = D51 + 2.0 * D52 * t
    a0_t = N01 + t * (2.0 * N02 + t * (3.0 * N03 + 4.0 * N04 * t))
    a0_t = a0_t + s * (N11 + t * (2.0 * N12 + t * (3.0 * N13 + 4.0 * N14 * t)))
    a0_t = a0_t + s * root * (N21 + t * (2.0 * N22 + t * (3.0 * N23 + 4.0 * N24 * t)))
    a1_t = N31 + t * (2.0 * N32 + 3.0 * N33 * t) + N41 * s
    a2_t = N51 + 2.0 * N52 * t + N53 * s
    a3_t = N61 + 0.0 * t

    c1 = a3 / b2
    c0 = (a2 - 2.0 * c1 * b1) / b2
    m1 = a1 - c1 * b0 - 2.0 * c0 * b1
    m0 = a0 - c0 * b0
    c1_t = (a3_t - c1 * b2_t) / b2
    c0_t = (a2_t - 2.0 * c1_t * b1 - 2.0 * c1 * b1_t - c0 * b2_t) / b2
    m1_t = a1_t - c1_t * b0 - c1 * b0_t - 2.0 * c0_t * b1 - 2.0 * c0 * b1_t
    m0_t = a0_t - c0_t * b0 - c0 * b0_t

    whole = b0 + p * (2.0 * b1 + b2 * p)
    whole_t = b0_t + p * (2.0 * b1_t + b2_t * p)
    log1 = np.log(whole / b0)
    log1_t = whole_t / whole - b0_t / b0
    radicand = b1 * b1 - b0 * b2
    r = np.sqrt(radicand)
    r_t = (2.0 * b1 * b1_t - b0_t * b2 - b0 * b2_t) / (2.0 * r)
    up1 = b2 * p + b1 - r
    up2 = b1 + r
    down1 = b2 * p + b1 + r
    down2 = b1 - r
    up1_t = b2_t * p + b1_t - r_t
    up2_t = b1_t + r_t
    down1_t = b2_t * p + b1_t + r_t
    down2_t = b1_t - r_t
    log2 = np.log((up1 * up2) / (down1 * down2))
    log2_t = up1_t / up1 + up2_t / up2 - down1_t / down1 - down2_t / down2
    f1 = m1 / (2.0 * b2)
    f1_t = (m1_t - m1 * b2_t / b2) / (2.0 * b2)
    f2 = (m0 - m1 * b1 / b2) / (2.0 * r)
    f2_t = (m0_t - m1_t * b1 / b2 - m1 * b1_t / b2 + m1 * b1 * b2_t / (b2 * b2)) / (2.0 * r) - f2 * r_t / r
    result = p * (c0_t + 0.5 * c1_t * p) + f1_t * log1 + f1 * log1_t + f2_t * log2 + f2 * log2_t
    return DB2PA * result


def enthalpy_by_salinity(s, t, p):
    """The derivative of dynamic enthalpy by absolute salinity, J/g."""
    root = np.sqrt(s)
    b0 = D00 + t * (D01 + t * (D02 + D03 * t)) + s * (D10 + t * (D11 + D12 * t))
    b0 = b0 + s * root * (D20 + t * (D21 + t * (D22 + D23 * t)))
    b1 = 0.5 * (D30 + t * (D31 + D32 * t) + s * (D40 + D41 * t))
    b2 = D50 + t * (D51 + D52 * t) + D60 * s
    a0 = N00 + t * (N01 + t * (N02 + t * (N03 + N04 * t))) + s * (N10 + t * (N11 + t * (N12 + t * (N13 + N14 * t))))
    a0 = a0 + N25 * s * s + s * root * (N20 + t * (N21 + t * (N22 + t * (N23 + N24 * t))))
    a1 = N30 + t * (N31 + t * (N32 + N33 * t)) + s * (N40 + N41 * t)
    a2 = N50 + t * (N51 + N52 * t) + N53 * s * t
    a3 = N60 + N61 * t

    b0_s = D10 + t * (D11 + D12 * t) + 1.5 * root * (D20 + t * (D21 + t * (D22 + D23 * t)))
    b1_s = 0.5 * (D40 + D41 * t)
    b2_s = D60
    a0_s = N10 + t * (N11 + t * (N12 + t * (N13 + N14 * t))) + 2.0 * N25 * s
    a0_s = a0_s + 1.5 * root * (N20 + t * (N21 + t * (N22 + t * (N23 + N24 * t))))
    a1_s = N40 + N41 * t
    a2_s = N53 * t

    c1 = a3 / b2
    c0 = (a2 - 2.0 * c1 * b1) / b2
    m1 = a1 - c1 * b0 - 2.0 * c0 * b1
    m0 = a0 - c0 * b0
    c1_s = -c1 * b2_s / b2
    c0_s = (a2_s - 2.0 * c1_s * b1 - 2.0 * c1 * b1_s - c0 * b2_s) / b2
    m1_s = a1_s - c1_s * b0 - c1 * b0_s - 2.0 * c0_s * b1 - 2.0 * c0 * b1_s
    m0_s = a0_s - c0_s * b0 - c0 * b0_s

    whole = b0 + p * (2.0 * b1 + b2 * p)
    whole_s = b0_s + p * (2.0 * b1_s + b2_s * p)
    log1 = np.log(whole / b0)
    log1_s = whole_s / whole - b0_s / b0
    radicand = b1 * b1 - b0 * b2
    r = np.sqrt(radicand)
    r_s = (2.0 * b1 * b1_s - b0_s * b2 - b0 * b2_s) / (2.0 * r)
    up1 = b2 * p + b1 - r
    up2 = b1 + r
    down1 = b2 * p + b1 + r
    down2 = b1 - r
    up1_s = b2_s * p + b1_s - r_s
    up2_s = b1_s + r_s
    down1_s = b2_s * p + b1_s + r_s
    down2_s = b1_s - r_s
    log2 = np.log((up1 * up2) / (down1 * down2))
    log2_s = up1_s / up1 + up2_s / up2 - down1_s / down1 - down2_s / down2
    f1 = m1 / (2.0 * b2)
    f1_s = (m1_s - m1 * b2_s / b2) / (2.0 * b2)
    f2 = (m0 - m1 * b1 / b2) / (2.0 * r)
    f2_s = (m0_s - m1_s * b1 / b2 - m1 * b1_s / b2 + m1 * b1 * b2_s / (b2 * b2)) / (2.0 * r) - f2 * r_s / r
    result = p * (c0_s + 0.5 * c1_s * p) + f1_s * log1 + f1 * log1_s + f2_s * log2 + f2 * log2_s
    return DB2PA * result


def program(s, t, p):
    """Density and both derivatives of dynamic enthalpy."""
    return density(s, t, p), enthalpy_by_temperature(s, t, p), enthalpy_by_salinity(s, t, p)


def arguments(n):
    """Salinity (g/kg), temperature (degrees C) and pressure (dbar) of an ocean."""
    rng = np.random.default_rng(17)
    shape = (n, n, max(n // 4, 1))
    return rng.uniform(20.0, 38.0, shape), rng.uniform(-1.0, 25.0, shape), rng.uniform(1.0, 4000.0, shape)
