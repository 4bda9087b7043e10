"""Simulated runs: what they promise for large clusters, and whether they agree with a real run.

    python benchmarks/simulated.py large       100 000 workers, and the curve from 100 to 1 000 000 workers
    python benchmarks/simulated.py production  1000 generations of 10 000 candidates, 5 s each, on 1000 workers
    python benchmarks/simulated.py real        real runs of 8 workers beside their simulations

Each part prints its figures and the targets. Without an argument, all parts run; this takes about ten minutes.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import culmen

HERE = Path(__file__).parent
CULMEN = (sys.executable, "-m", "culmen")
STUDY = """
seed = 1
[space]
a = {{ lower = -5, upper = 5 }}
b = {{ lower = -5, upper = 5 }}
c = {{ lower = -5, upper = 5 }}
d = {{ lower = -5, upper = 5 }}
[evaluator]
library = "simulated_function.so:sleep_log_normal"
isolation = "none"
[optimizer]
{optimizer}
[stop]
evaluations = {evaluations}
"""
GENERATIONS, CANDIDATES, LENGTH_S, WORKERS = 1000, 10_000, 5.0, 1000
REPEATS, REAL_WORKERS, REAL_EVALUATIONS, REAL_MEAN_S = 5, 8, 1000, 0.1


def main() -> None:
    parts = {"large": large, "production": production, "real": real}
    chosen = sys.argv[1:] or list(parts)
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        os.chdir(folder)
        for name in chosen:
            parts[name]()


def build(folder: Path, name: str = "simulated_function") -> None:
    """Of NAME.c beside this file, for study files in the folder."""
    include = subprocess.run([*CULMEN, "include"], check=True, capture_output=True, text=True).stdout.strip()
    source, library = HERE / f"{name}.c", folder / f"{name}.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{include}", "-o", library, source, "-lm"], check=True)


def study(name: str, evaluations: int, optimizer: str) -> str:
    path = f"{name}.toml"
    Path(path).write_text(STUDY.format(evaluations=evaluations, optimizer=optimizer))
    return path


def simulated(path: str, *options: object) -> dict:
    words = [*CULMEN, "simulate", path, "--json", *map(str, options)]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def large() -> None:
    path = study("large", 1_000_000, 'name = "evolution"\ngenerational = false')
    found = simulated(path, "--workers", 100_000, "--duration", 5, "--spread", 0.5)
    run = found["run"]
    print("100 000 workers, 1 000 000 log-normal evaluations of 5 s, evolution without generations")
    print(f"  utilisation {run['steady_utilisation']:.2%} (target ≥ 99 %), whole run {run['utilisation']:.2%}")
    print(f"  master {run['master_load']:.1%} of one core (target < 50 %)")
    for point in found["curve"]:
        print(
            f"  {point['workers']:>9} workers: utilisation {point['steady_utilisation']:.2%}, "
            f"{point['steady_rate']:.0f} evaluations/s, master {point['master_load']:.1%}"
        )
    print(f"  {found['knee']}")


def production() -> None:
    evaluations = GENERATIONS * CANDIDATES
    path = study("production", evaluations, f'name = "evolution"\nchildren = {CANDIDATES}\ngenerational = true')
    ideal_h = evaluations * LENGTH_S / WORKERS / 3600
    print(f"{GENERATIONS} generations of {CANDIDATES} candidates on {WORKERS} workers; ideal {ideal_h:.2f} h")
    for spread, target in ((0, " (target ≤ 14.5 h)"), (0.1, "")):
        words = ("--duration", LENGTH_S, "--spread", spread)
        hours = simulated(path, "--workers", WORKERS, "--only", *words)["run"]["wall_s"] / 3600
        print(f"  log-normal, spread {spread}: {hours:.2f} h{target}, {ideal_h / hours:.1%} of the ideal")


def real() -> None:
    print(
        f"{REAL_EVALUATIONS} log-normal evaluations of {REAL_MEAN_S} s in generations of 40 on {REAL_WORKERS} workers"
    )
    path = study("real", REAL_EVALUATIONS, 'name = "evolution"\nchildren = 40\ngenerational = true')
    ratios = []
    for repeat in range(1, REPEATS + 1):
        store = f"real{repeat}.db"
        environment = {**os.environ, "CULMEN_BENCH_SEED": str(repeat), "CULMEN_BENCH_MEAN_S": str(REAL_MEAN_S)}
        words = ["run", path, "--worker-processes", "--workers", str(REAL_WORKERS), "--store", store, "--quiet"]
        subprocess.run([*CULMEN, *words], check=True, env=environment, stdout=subprocess.DEVNULL)
        table = culmen.read(store)
        real_s = float(table.at_s.max() - (table.at_s - table.duration_s).min())
        run = simulated(path, "--workers", REAL_WORKERS, "--store", store, "--only")["run"]
        ratios.append(run["wall_s"] / real_s)
        print(f"  real {real_s:.3f} s, simulated {run['wall_s']:.3f} s: {ratios[-1] - 1:+.2%}")
    spread = statistics.stdev(ratios)
    print(f"  mean {statistics.mean(ratios) - 1:+.2%} ± {spread:.2%} (target: within 2 %)")


if __name__ == "__main__":
    main()
