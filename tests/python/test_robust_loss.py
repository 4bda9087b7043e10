"""Fits with a robust loss: the minimum and its errors, against SciPy and what is known."""

import math

import numpy as np
import pytest
from culmen.problem.space import Space
from fits import Sample

import culmen
from culmen import InputError, _core

LOSSES = ("soft_l1", "huber", "cauchy", "arctan")
T = np.linspace(0, 6, 40)
BOX = {"height": (0, 20), "rate": (0.01, 5), "floor": (-5, 5)}
SIGMA = 0.1


def model(p):
    return p[0] * np.exp(-p[1] * T) + p[2]


def data(seed: int) -> np.ndarray:
    """A decay; six of the points are outliers."""
    random = np.random.default_rng(seed)
    y = model([5, 0.8, 1]) + SIGMA * random.standard_normal(len(T))
    y[random.choice(len(T), 6, replace=False)] += random.uniform(2, 6, 6)
    return y


def reference(residuals, start, loss, f_scale):
    from scipy.optimize import least_squares

    box = np.array(list(BOX.values())).T
    tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "x_scale": "jac", "max_nfev": 2000}
    return least_squares(residuals, start, bounds=box, loss=loss, f_scale=f_scale, **tight)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_minimum_is_that_of_scipy(loss, seed):
    y = data(seed)

    def residuals(p):
        return (p["height"] * np.exp(-p["rate"] * T) + p["floor"] - y) / SIGMA

    found = culmen.minimize(residuals, BOX, result="residuals", loss=loss, f_scale=1.5, budget=3000, workers=1)
    x = list(found.best.values())
    starts = x, [5, 0.8, 1], [1, 0.1, 0], [10, 2, 2]
    peers = [reference(lambda p: (model(p) - y) / SIGMA, start, loss, 1.5) for start in starts]
    best = min(peers, key=lambda peer: peer.cost)
    assert found.optimizer == "lm"
    assert found.value == pytest.approx(2 * best.cost, rel=1e-6)
    assert x == pytest.approx(best.x, rel=1e-4)
    assert found.residuals == pytest.approx((model(x) - y) / SIGMA)


def sample(loss: str, f_scale: float, y: np.ndarray, linear: bool = False) -> Sample:
    """A decay, or a straight line with parameters of the same names."""

    def residuals(p):
        return ((p[0] * T + p[1] if linear else model(p)) - y) / SIGMA

    box = {name: BOX[name] for name in ("height", "floor")} if linear else BOX
    return Sample(Space(box), residuals, loss=loss, f_scale=f_scale)


def hessian(f, x, steps):
    """By central differences."""
    n = len(x)
    out = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            a, b = steps[i] * np.eye(n)[i], steps[j] * np.eye(n)[j]
            corners = f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b)
            out[i, j] = corners / (4 * steps[i] * steps[j])
    return out


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", [1, 2])
def test_errors_of_a_straight_line_are_those_of_the_hessian_of_the_value(loss, seed):
    random = np.random.default_rng(seed)
    y = 2 * T + 1 + SIGMA * random.standard_normal(len(T))
    y[random.choice(len(T), 6, replace=False)] += random.uniform(1, 4, 6)
    line = sample(loss, 1.5, y, linear=True)
    from scipy.optimize import least_squares

    x = least_squares(line.residuals, [2, 1], loss=loss, f_scale=1.5, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    errors = line.errors(x)
    by_hand = 2 * np.linalg.inv(hessian(lambda p: line.outcome(p).cost, x, np.array([1e-5, 1e-5])))
    if loss != "huber":  # whose second derivative jumps
        assert np.array(errors.covariance) == pytest.approx(by_hand, rel=1e-3)
    assert errors["height"].error == pytest.approx(math.sqrt(by_hand[0, 0]), rel=1e-2)
    assert (errors.scale, errors["height"].scaled) == (None, None)
    assert not errors.notes


def test_the_errors_of_a_curved_model_use_the_curvature_of_the_loss():
    y = data(4)
    fit = sample("soft_l1", 1.5, y)
    x = reference(fit.residuals, [5, 0.8, 1], "soft_l1", 1.5).x
    errors = fit.errors(x)
    by_hand = 2 * np.linalg.inv(hessian(lambda p: fit.outcome(p).cost, x, 1e-4 * abs(x)))
    # The second derivatives of the residuals are left out, as for the sum of squares.
    assert [p.error for p in errors.parameters] == pytest.approx(np.sqrt(np.diag(by_hand)), rel=0.15)


def test_sandwich_errors_are_the_spread_of_repeated_measurements():
    """Of a straight line whose points are outliers in one case of ten; the residuals are in a wrong unit."""
    from scipy.optimize import least_squares

    random = np.random.default_rng(5)
    found, claimed, curvature = [], [], []
    for _ in range(300):
        y = 2 * T + 1 + SIGMA * random.standard_normal(len(T)) * np.where(random.random(len(T)) < 0.1, 10, 1)
        line = sample("soft_l1", 0.5, y, linear=True)
        x = least_squares(line.residuals, [2, 1], loss="soft_l1", f_scale=0.5).x
        errors = line.errors(x)
        found.append(x)
        claimed.append([p.sandwich for p in errors.parameters])
        curvature.append([p.error for p in errors.parameters])
    spread = np.std(found, axis=0)
    assert np.sqrt(np.mean(np.square(claimed), axis=0)) == pytest.approx(spread, rel=0.15)
    assert np.all(np.mean(curvature, axis=0) > 1.15 * spread)


@pytest.mark.parametrize("count", [3, 5, 40])
def test_sandwich_errors_grow_as_the_degrees_of_freedom_become_few(count):
    """By hand for the mean of measurements with Huber's loss: A is the number of those that are no outliers."""
    r = np.array([-0.5, 0.5, *(3.0 * (-1) ** k for k in range(count - 2)), 0.0])
    mean = Sample(Space({"mean": (-10, 10)}), lambda p: p[0] + r, loss="huber", f_scale=1.0)
    x = reference_mean(r)
    scores = np.clip(x + r, -1, 1)
    inside = np.sum(abs(x + r) <= 1)
    by_hand = math.sqrt(np.sum(scores**2) / inside**2 * len(r) / (len(r) - 1))
    errors = mean.errors([x])
    assert errors.dof == len(r) - 1
    assert errors["mean"].sandwich == pytest.approx(by_hand, rel=1e-6)


def reference_mean(r):
    from scipy.optimize import brentq

    return brentq(lambda x: np.sum(np.clip(x + r, -1, 1)), -9, 9, xtol=1e-14)


@pytest.mark.parametrize("loss", ["soft_l1", "cauchy"])
def test_profiles_end_where_the_least_value_has_risen_by_one(loss):
    fit = sample(loss, 1.5, data(6))
    x = reference(fit.residuals, [5, 0.8, 1], loss, 1.5).x
    errors = fit.errors(x, profile=True)
    lowest = fit.outcome(x).cost
    box = np.array(list(BOX.values()))
    from scipy.optimize import least_squares

    for i, p in enumerate(errors.parameters):
        for end in (p.interval.lower, p.interval.upper):
            tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "x_scale": "jac"}
            others = least_squares(
                lambda z, i=i, end=end: fit.residuals(np.insert(z, i, end)), np.delete(x, i),
                bounds=np.delete(box, i, axis=0).T, loss=loss, f_scale=1.5, **tight,
            )  # fmt: skip
            assert 2 * others.cost - lowest == pytest.approx(1, rel=5e-3)


def test_the_text_names_the_loss_and_not_chi_squared():
    fit = sample("huber", 1.5, data(1))
    text = str(fit.errors(reference(fit.residuals, [5, 0.8, 1], "huber", 1.5).x))
    assert "± sandwich" in text
    assert "(loss huber, f_scale = 1.5)" in text
    assert "χ²" not in text


def parabola(p):
    return [p["x"] - 1, p["x"] - 1, p["x"] - 30]


def test_a_store_of_another_loss_is_refused(tmp_path):
    store = tmp_path / "fit.db"

    def fit(**loss):
        return culmen.minimize(parabola, {"x": (-9, 50)}, result="residuals", budget=60, store=store, workers=1, **loss)

    robust = fit(loss="cauchy", f_scale=0.1)
    assert robust.best["x"] == pytest.approx(1, abs=0.01)
    with pytest.raises(InputError, match=r"holds another study \('parabola': evaluator loss cauchy there, linear here"):
        fit()
    with pytest.raises(InputError, match=r"evaluator f_scale 0\.1 there, 0\.2 here\)"):
        fit(loss="cauchy", f_scale=0.2)
    assert fit(loss="cauchy", f_scale=0.1).value == robust.value


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"loss": "soft_l2"}, '"cauchy" or "arctan", got "soft_l2"; did you mean \'soft_l1\'?'),
        (
            {"loss": "huber", "result": "value"},
            'culmen.minimize: loss = "huber" needs residuals; return them',
        ),
        ({"f_scale": 2.0}, 'f_scale = 2 has no effect with loss = "linear"; choose another loss'),
        ({"loss": "huber", "f_scale": 0}, "f_scale must be at least 1e-50, got 0"),
        ({"loss": "huber", "f_scale": 1e-300}, "f_scale must be at least 1e-50, got 1e-300"),
        ({"loss": "huber", "f_scale": 1e300}, "f_scale must be at most 1e+50, got 1e+300"),
    ],
)
def test_wrong_losses_are_explained(given, said):
    with pytest.raises(InputError) as e:
        culmen.minimize(parabola, {"x": (-9, 50)}, budget=5, **{"result": "residuals", **given})
    assert said in str(e.value)


def test_a_loss_of_squares_leaves_fingerprints_as_they_were():
    config = _core.StudyConfig()
    before = _core.fingerprint_of(config)
    config.loss, config.f_scale = "huber", 2.0
    assert _core.fingerprint_of(config) != before
    config.loss = "linear"
    assert _core.fingerprint_of(config) == before
