"""How often `culmen tune command` finds the best settings of a made-up program whose times are noisy.

    python benchmarks/planted.py [--seeds N] [OPTIMIZER[:MODEL]…]
    python benchmarks/planted.py [--seeds N] --use

The program has six parameters of several types, and the best setting is known. A time is the true one, times a random
factor with a spread of 20 %. A search has 150 runs, and begins with settings that take 6.6 times as long as the best
ones. It found the best settings if the recommended ones are at most 5 % slower.

The second figure is for a program on which no parameter has an effect: how often 10 rounds of both settings in turns
show no better settings.

With --use: when does `--use-hours` stop the search, and what do all its runs and the whole later use take together? A
run with the best settings takes 10 s. "all runs": without the stop rule.
"""

import argparse
import math
from collections.abc import Callable

import numpy as np
from culmen.bench.verdict import verdict_of
from culmen.tune.command.stopping import StopRule

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
RUN_S, USES_H = 10.0, (1, 10, 100)


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


class Search:
    """All runs of a search, with what the stop rule reads of a store."""

    def __init__(self, time_of: Callable[[dict], float], spread: float, seed: int) -> None:
        noise = np.random.default_rng(seed)
        study = culmen.Optimizer(SPACE, "bayes", seed=seed, evaluations=RUNS, options={"model": "additive"})
        self.space, self.order, self.feasible = study.space.core, np.arange(RUNS), np.full(RUNS, True)
        tried, times, self.picked = [], [], []
        for _ in range(RUNS):
            (candidate,) = study.ask(1)
            times.append(time_of(candidate.params) * math.exp(spread * noise.standard_normal()))
            study.tell(candidate, times[-1])
            tried.append(candidate.params)
            best = study.recommended.params if study.recommended else tried[int(np.argmin(times))]
            self.picked.append(time_of(best) / time_of(tried[0]))
        self.x = np.array([self.space.vector_of(params) for params in tried])
        self.values, self.duration_s = np.array(times)[:, None], RUN_S * np.array(times)

    def runs_until(self, use_h: float) -> int:
        rule, runs = StopRule(use_h, False, len(SPACE), 1), 0
        while (runs := rule.next_runs(runs)) < RUNS:
            if rule.seen(self, runs).stopped:
                return runs
        return RUNS

    def total_h(self, runs: int, use_h: float) -> float:
        return float(self.duration_s[:runs].sum()) / 3600 + use_h * self.picked[runs - 1]


def stops(seeds: int) -> None:
    programs = {"with a best setting": true_time, "without any effect": lambda _: 1.0}
    for about, time_of in programs.items():
        for spread in (0.03, NOISE):
            searches = [Search(time_of, spread, seed) for seed in range(1, seeds + 1)]
            for use_h in USES_H:
                runs = [search.runs_until(use_h) for search in searches]
                stopped, whole = (
                    np.mean([s.total_h(n, use_h) for s, n in zip(searches, counts, strict=True)])
                    for counts in (runs, [RUNS] * seeds)
                )
                print(
                    f"{about}, noise of {spread:.0%}, {use_h:g} h of use: {np.median(runs):g} runs ({min(runs)} to "
                    f"{max(runs)}), {stopped:.2f} h together; all runs: {whole:.2f} h",
                    flush=True,
                )


def no_difference(seeds: int, noise: np.random.Generator) -> float:
    def pairs() -> np.ndarray:
        return np.exp(NOISE * noise.standard_normal((ROUNDS, 2)))

    return float(np.mean([not verdict_of([tuple(p) for p in pairs()], False).is_better for _ in range(seeds)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--use", action="store_true", help="when --use-hours stops the search")
    parser.add_argument("optimizers", nargs="*", default=["bayes:additive", "bayes:gauss", "bayes:forest", "racing"])
    options = parser.parse_args()
    if options.use:
        stops(options.seeds)
        return
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
