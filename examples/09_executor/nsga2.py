"""pymoo's NSGA-II. culmen's workers evaluate the function."""

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import ElementwiseProblem
from pymoo.optimize import minimize
from pymoo.parallelization.starmap import StarmapParallelization

import culmen


class Schaffer(ElementwiseProblem):
    def __init__(self, **more):
        super().__init__(n_var=1, n_obj=2, xl=-10, xu=10, **more)

    def _evaluate(self, x, out, *args, **kwargs):
        out["F"] = [x[0] ** 2, (x[0] - 2) ** 2]


with culmen.Executor(4) as executor:
    problem = Schaffer(elementwise_runner=StarmapParallelization(executor.starmap))
    found = minimize(problem, NSGA2(pop_size=40), ("n_gen", 40), seed=1)
print(f"{len(found.F)} values on the front, x from {np.min(found.X):.2f} to {np.max(found.X):.2f}")
