"""Finance: options by trees and by simulation, bonds and risk."""

from __future__ import annotations

import numpy as np

from benchmarks.untuned import untuned


def _average_price(shocks, start, rate, volatility, step):
    drift, spread = (rate - 0.5 * volatility**2) * step, volatility * np.sqrt(step)
    prices = start * np.exp(np.cumsum(drift + spread * shocks, axis=1))
    return np.mean(np.maximum(np.mean(prices, axis=1) - 100.0, 0))


@untuned(lambda n, rng: (rng.standard_normal((n, 32)), 100.0, 0.03, 0.2, 1 / 32), 4, 300, 10_000, numpy=_average_price,
         parallel="path")  # fmt: skip
def option_on_average(shocks, start, rate, volatility, step):
    total = 0.0
    drift = (rate - 0.5 * volatility * volatility) * step
    spread = volatility * np.sqrt(step)
    for path in range(shocks.shape[0]):
        price, sum_of_prices = start, 0.0
        for t in range(shocks.shape[1]):
            price *= np.exp(drift + spread * shocks[path, t])
            sum_of_prices += price
        total += max(sum_of_prices / shocks.shape[1] - 100.0, 0.0)
    return total / shocks.shape[0]


def _american_put(start, strike, up, rate, steps):
    down = 1 / up
    chance = (rate - down) / (up - down)
    values = np.empty(steps + 1)
    for j in range(steps + 1):
        values[j] = max(strike - start * up ** (2 * j - steps), 0.0)
    for level in range(steps - 1, -1, -1):
        price = start * down**level
        for j in range(level + 1):
            kept = (chance * values[j + 1] + (1 - chance) * values[j]) / rate
            values[j] = max(kept, strike - price)
            price *= up * up
    return values[0]


@untuned(lambda n, rng: (100.0, 105.0, 1 + 1 / n, 1 + 0.02 / n, n), 20, 200, 1500, numba=_american_put)
def american_put_by_tree(start, strike, up, rate, steps):
    down = 1 / up
    chance = (rate - down) / (up - down)
    powers = up ** np.arange(-steps, steps + 1)
    values = np.maximum(strike - start * powers[::2], 0)
    for level in range(steps - 1, -1, -1):
        kept = (chance * values[1:] + (1 - chance) * values[:-1]) / rate
        exercised = strike - start * powers[steps - level : steps + level + 1 : 2]
        values = np.maximum(kept, exercised)
    return values[0]


def _bond_prices(coupons, yields, years):
    found = np.empty(coupons.shape[0])
    for i in range(coupons.shape[0]):
        factor, total = 1.0, 0.0
        for _ in range(years):
            factor /= 1 + yields[i]
            total += coupons[i] * factor
        found[i] = total + 100 * factor
    return found


@untuned(lambda n, rng: (5 * rng.random(n), 0.01 + 0.05 * rng.random(n), 20), 10, 1000, 50_000, numba=_bond_prices,
         parallel="i")  # fmt: skip
def prices_of_bonds(coupons, yields, years):
    times = np.arange(1, years + 1)
    discounts = (1 + yields[:, None]) ** -times.astype(np.float64)
    return coupons * discounts.sum(axis=1) + 100 * discounts[:, -1]


def _knocked_out(shocks, start, barrier, spread):
    prices = start * np.exp(np.cumsum(spread * shocks - 0.5 * spread**2, axis=1))
    alive = np.all(prices < barrier, axis=1)
    return np.sum(np.maximum(prices[:, -1] - start, 0) * alive) / shocks.shape[0]


@untuned(lambda n, rng: (rng.standard_normal((n, 48)), 100.0, 115.0, 0.03), 4, 200, 10_000, numpy=_knocked_out,
         parallel="path")  # fmt: skip
def option_with_barrier(shocks, start, barrier, spread):
    total = 0.0
    for path in range(shocks.shape[0]):
        price = start
        alive = True
        for t in range(shocks.shape[1]):
            price = price * np.exp(spread * shocks[path, t] - 0.5 * spread * spread)
            if price >= barrier:
                alive = False
                break
        if alive and price > start:
            total += price - start
    return total / shocks.shape[0]


def _normal_share(x):
    t = 1 / (1 + 0.2316419 * np.abs(x))
    tail = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    share = 1 - 0.3989422804014327 * np.exp(-0.5 * x * x) * tail
    return np.where(x < 0, 1 - share, share)


def _implied(prices, strikes, spot, years):
    found = np.empty_like(prices)
    root = np.sqrt(years)
    for i in range(prices.shape[0]):
        low, high = 0.01, 2.0
        for _ in range(24):
            middle = 0.5 * (low + high)
            moved = np.log(spot / strikes[i]) / (middle * root) + 0.5 * middle * root
            value = 0.0
            for sign in range(2):
                x = moved - sign * middle * root
                t = 1 / (1 + 0.2316419 * abs(x))
                tail = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
                share = 1 - 0.3989422804014327 * np.exp(-0.5 * x * x) * tail
                if x < 0:
                    share = 1 - share
                value += spot * share if sign == 0 else -strikes[i] * share
            if value < prices[i]:
                low = middle
            else:
                high = middle
        found[i] = 0.5 * (low + high)
    return found


@untuned(lambda n, rng: (8 + 20 * rng.random(n), 90 + 20 * rng.random(n), 100.0, 0.75), 10, 800, 40_000,
         numba=_implied, parallel="i", tolerance=1e-6)  # fmt: skip
def implied_volatilities(prices, strikes, spot, years):
    low = np.full(prices.shape, 0.01)
    high = np.full(prices.shape, 2.0)
    for _ in range(24):
        middle = 0.5 * (low + high)
        width = middle * np.sqrt(years)
        moved = np.log(spot / strikes) / width + 0.5 * width
        value = spot * _normal_share(moved) - strikes * _normal_share(moved - width)
        below = value < prices
        low = np.where(below, middle, low)
        high = np.where(below, high, middle)
    return 0.5 * (low + high)


@untuned(lambda n, rng: (0.01 * rng.standard_normal((n, 12)), rng.random(12), 0.05), 20, 2000, 100_000)
def expected_shortfall(returns, weights, share):
    losses = np.sort(-(returns @ (weights / weights.sum())))
    worst = losses[int((1 - share) * losses.shape[0]) :]
    return worst.mean()
