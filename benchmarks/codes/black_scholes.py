"""Prices of European options and their sensitivities (Black and Scholes, 1973) for lists of markets.

The normal distribution by the rational approximation of Abramowitz and Stegun (26.2.17).
"""

import numpy as np

P = 0.2316419
A1, A2, A3, A4, A5 = 0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429


def normal_density(x):
    """The density of the normal distribution."""
    return np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi)


def normal(x):
    """The normal distribution."""
    size = np.abs(x)
    t = 1.0 / (1.0 + P * size)
    tail = normal_density(size) * (t * (A1 + t * (A2 + t * (A3 + t * (A4 + t * A5)))))
    return np.where(x >= 0.0, 1.0 - tail, tail)


def option(spot, strike, time, rate, volatility):
    """Call, put, and the five sensitivities of the call."""
    spread = volatility * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * time) / spread
    d2 = d1 - spread
    discount = strike * np.exp(-rate * time)
    call = spot * normal(d1) - discount * normal(d2)
    put = discount * normal(-d2) - spot * normal(-d1)
    delta = normal(d1)
    gamma = normal_density(d1) / (spot * spread)
    vega = spot * normal_density(d1) * np.sqrt(time)
    theta = -spot * normal_density(d1) * volatility / (2.0 * np.sqrt(time)) - rate * discount * normal(d2)
    rho = time * discount * normal(d2)
    return call, put, delta, gamma, vega, theta, rho


def program(all_spots, all_strikes, all_times, rates, all_volatilities):
    """Totals over eight markets, and each market's largest sensitivity."""
    spots = [all_spots[i] for i in range(8)]
    strikes = [all_strikes[i] for i in range(8)]
    times = [all_times[i] for i in range(8)]
    volatilities = [all_volatilities[i] for i in range(8)]
    calls, puts, worst = [], [], []
    for spot, strike, time, rate, volatility in zip(spots, strikes, times, rates, volatilities):
        call, put, delta, gamma, vega, theta, rho = option(spot, strike, time, rate, volatility)
        calls.append(call)
        puts.append(put)
        worst.append(np.max(np.abs(delta)) + np.max(gamma) + np.max(vega) + np.max(np.abs(theta)) + np.max(rho))
    parity = [c - p - s + k * np.exp(-r * t) for c, p, s, k, r, t in zip(calls, puts, spots, strikes, rates, times)]
    error = 0.0
    for difference in parity:
        error = max(error, np.max(np.abs(difference)))
    total = calls[0] + puts[0]
    for call, put in zip(calls[1:], puts[1:]):
        total = total + call + put
    return total, sum(worst), error


def arguments(n):
    """Eight markets of as many options."""
    rng = np.random.default_rng(1)
    shape = (8, n * n)
    rates = tuple(0.01 * (i + 1) for i in range(8))
    spots, strikes = rng.uniform(10.0, 50.0, shape), rng.uniform(10.0, 50.0, shape)
    return spots, strikes, rng.uniform(1.0, 2.0, shape), rates, rng.uniform(0.1, 0.5, shape)
