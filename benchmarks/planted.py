"""How often `culmen tune command` finds the best settings of a made-up program whose times are noisy.

    python benchmarks/planted.py [--seeds N] [OPTIMIZER[:MODEL]…]

The program has six parameters of several types, and the best setting is known. A time is the true one, times a random
factor with a spread of 20 %. A search has 150 runs, and begins with settings that take 6.6 times as long as the best
ones. It found the best settings if the recommended ones are at most 5 % slower.

The second figure is for a program on which no parameter has an effect: how often 10 rounds of both settings in turns
show no better settings.
"""

import argparse
import math

import numpy as np
from culmen.bench.verdict import verdict_of

import culmen

SPACE = {
    "algorithm": culmen.categorical(["a", "b", "c", "d"], initial="a"),
    "layout": culmen.categorical(["rows", "columns", "tiles"], initial="rows"),
    "pin": culmen.boolean(initial=False),
    "block": culmen.ordinal([8, 16, 32, 64, 128, 256], initial=8),
    "threads": culmen.integer(1, 16, initial=1),
    "limit": culmen.real(1e2, 1e6, scale="log", initial=1e2),
}
NOISE, RUNS, NEAR, ROUNDS = 0.2, 150, 1.05, 10


def true_time(p: dict) -> float:
    """1 at the best setting."""
    slower = {"a": 1.3, "b": 1.15, "c": 1.0, "d": 1.6}[p["algorithm"]]
    slower *= {"rows": 1.12, "columns": 1.3, "tiles": 1.0}[p["layout"]] * (1.0 if p["pin"] else 1.15)
    slower *= 1 + 0.06 * (math.log2(p["block"]) - 6) ** 2
    slower *= 1 + 0.1 * math.log2(p["threads"] / 12) ** 2
    return slower * (1 + 0.03 * math.log10(p["limit"] / 1e4) ** 2)


def search(optimizer: str, seed: int, noise: np.random.Generator) -> dict:
    name, _, model = optimizer.partition(":")
    study = culmen.Optimizer(SPACE, name, seed=seed, evaluations=RUNS, options={"model": model} if model else {})
    best, runs = (math.inf, {}), 0
    while runs < RUNS and (asked := study.ask(1)):
        for candidate in asked:
            value = true_time(candidate.params) * math.exp(NOISE * noise.standard_normal())
            study.tell(candidate, value)
            best = min(best, (value, candidate.params), key=lambda pair: pair[0])
            runs += 1
    return study.recommended.params if study.recommended else best[1]


def no_difference(seeds: int, noise: np.random.Generator) -> float:
    def pairs() -> np.ndarray:
        return np.exp(NOISE * noise.standard_normal((ROUNDS, 2)))

    return float(np.mean([not verdict_of([tuple(p) for p in pairs()], False).is_better for _ in range(seeds)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("optimizers", nargs="*", default=["bayes:additive", "bayes:gauss", "bayes:forest", "racing"])
    options = parser.parse_args()
    for optimizer in options.optimizers:
        noise = np.random.default_rng(1)
        times = [true_time(search(optimizer, seed, noise)) for seed in range(1, options.seeds + 1)]
        found = sum(time <= NEAR for time in times)
        print(
            f"{optimizer}: {found} of {options.seeds} within 5 % (target 9 of 10); true time: median "
            f"{np.median(times):.3f}, worst {max(times):.3f}"
        )
    print(f"no difference: {no_difference(2000, np.random.default_rng(2)):.1%} of 2000 (target ≥ 95 %)")


if __name__ == "__main__":
    main()
