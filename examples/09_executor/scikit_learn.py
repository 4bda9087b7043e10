"""scikit-learn uses culmen's workers through joblib."""

import joblib
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

import culmen

culmen.register_joblib()
x, y = make_classification(300, random_state=1)
with joblib.parallel_config(backend="culmen", n_jobs=4):
    scores = cross_val_score(RandomForestClassifier(20, random_state=1), x, y, cv=4)
print(f"value {scores.mean():.3f} in the mean of {len(scores)} folds")
