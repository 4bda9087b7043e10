"""Uses a sampler of Optuna in `culmen.minimize`, then culmen's CMA-ES in an Optuna study."""

import optuna
from chi2 import chi2
from culmen.optuna_sampler import CulmenSampler

import culmen

space = {"amplitude": (0, 1000), "rate": culmen.real(1e-3, 1, scale="log"), "background": (0, 100)}
found = culmen.minimize(
    lambda p: chi2(p["amplitude"], p["rate"], p["background"]),
    space,
    optimizer="optuna:TPESampler",
    options={"multivariate": True},
    budget=60,
)
print(found.value)


def objective(trial):
    amplitude = trial.suggest_float("amplitude", 0, 1000)
    rate = trial.suggest_float("rate", 1e-3, 1, log=True)
    background = trial.suggest_float("background", 0, 100)
    return chi2(amplitude, rate, background)


optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(sampler=CulmenSampler("cmaes", seed=1))
study.optimize(objective, n_trials=300)
print(study.best_value)
