"""The least value of a parabola within bounds, against SciPy's."""

import numpy as np
import pytest
from culmen.fit.parabola import Box, Parabola, best_step


@pytest.mark.parametrize("seed", range(40))
def test_the_best_step_within_a_box_is_scipys(seed):
    """Often several coordinates would leave the box, and by the way back of one another is free again."""
    from scipy.optimize import lsq_linear

    random = np.random.default_rng(seed)
    n = 2 + seed % 4
    j, r = random.normal(size=(n + 2, n)) + 2 * random.normal(size=(n + 2, 1)), random.normal(size=n + 2)
    box = Box(random.uniform(-0.5, 0, n), random.uniform(0, 0.5, n))
    parabola = Parabola(np.zeros(n), float(r @ r), 2 * j.T @ r, 2 * j.T @ j)
    step = best_step(parabola, box)
    assert np.all((step >= box.lower) & (step <= box.upper))
    wanted = lsq_linear(j, -r, (box.lower, box.upper), method="bvls", tol=1e-14).x
    assert parabola.gain(step) == pytest.approx(parabola.gain(wanted), rel=1e-9)


def test_one_parameter_can_be_moved_and_the_others_follow():
    b = np.array([[2.0, 1.0], [1.0, 2.0]])
    step = best_step(Parabola(np.zeros(2), 0.0, np.zeros(2), b), Box(np.full(2, -9.0), np.full(2, 9.0)), 0, 4.0)
    assert step == pytest.approx([4, -2])
