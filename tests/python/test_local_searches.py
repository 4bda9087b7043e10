"""Local searches from many starts, as programs call them."""

import pytest

import culmen


def valley(p):
    return 100 * (p["y"] - p["x"] ** 2) ** 2 + (1 - p["x"]) ** 2


@pytest.mark.parametrize("name", ["bfgs", "slsqp", "bobyqa", "nelder_mead", "conjugate_gradient"])
def test_a_valley_is_gone_through_to_its_end(name):
    result = culmen.minimize(valley, {"x": (-2, 3), "y": (-2, 3)}, optimizer=name, budget=1200, workers=2)
    assert result.best == pytest.approx({"x": 1, "y": 1}, abs=1e-3)
    assert result.optimizer == name


def test_descents_side_by_side_find_the_better_of_two_basins():
    def basins(p):
        return min(1 + (p["x"] - 1) ** 2, 4 * (p["x"] + 3) ** 2)

    options = {"descents": 4}
    result = culmen.minimize(basins, {"x": (-5, 5)}, optimizer="bfgs", options=options, budget=300, workers=2)
    assert result.best["x"] == pytest.approx(-3, abs=1e-5)
    assert result.remark.endswith("local searches ended at the best value")


def test_integers_are_an_obstacle():
    with pytest.raises(culmen.InputError, match="'bfgs' needs real parameters that are always active; 'n' is integer"):
        culmen.minimize(lambda p: p["n"], {"n": culmen.integer(1, 9)}, optimizer="bfgs", budget=10)
