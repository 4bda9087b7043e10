import optuna
from chi2 import chi2


def objective(trial):
    amplitude = trial.suggest_float("amplitude", 0, 1000)
    rate = trial.suggest_float("rate", 1e-3, 1, log=True)
    background = trial.suggest_float("background", 0, 100)
    return chi2(amplitude, rate, background)


optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
study.optimize(objective, n_trials=300)
print(study.best_value, study.best_params)
