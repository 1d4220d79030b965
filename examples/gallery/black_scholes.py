"""Black-Scholes: prices of call options, by stock price and time to maturity.

A long formula on arrays, which NumPy computes one operation at a time.
"""

import numpy as np

import dcpy

SMALL, LARGE = 9, 700


def normal_cdf(x):
    """The approximation 26.2.17 of Abramowitz and Stegun, to seven digits."""
    t = 1 / (1 + 0.2316419 * np.abs(x))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * series
    return np.where(x > 0, 1 - tail, tail)


@dcpy.program(auto_optimize=True)
def black_scholes(price, strike, years, rate, volatility):
    spread = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + volatility**2 / 2) * years) / spread
    return price * normal_cdf(d1) - strike * np.exp(-rate * years) * normal_cdf(d1 - spread)


def initialize(n):
    price, years = np.meshgrid(np.linspace(50, 150, n), np.linspace(0.05, 3, n))
    return {"price": price, "strike": 100.0, "years": years, "rate": 0.03, "volatility": 0.25}


def draw(axes, result):
    for row in result[:: max(len(result) // 6, 1)]:
        axes.plot(np.linspace(50, 150, len(row)), row)
    axes.set_xlabel("price of the stock")
    axes.set_ylabel("price of the option")
