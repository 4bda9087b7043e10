"""Annealing, differential evolution, particle swarm, evolution and NSGA-II, as programs use them."""

import pytest

import culmen

BOX = {"x": (-5, 5), "n": culmen.integer(1, 9), "t": culmen.real(1e-3, 1e3, scale="log")}


def valley(p):
    return (p["x"] - 1.3) ** 2 + (p["n"] - 7) ** 2 + (p["t"] - 1) ** 2


@pytest.mark.parametrize("optimizer", ["annealing", "de", "evolution", "swarm"])
def test_minimize_finds_a_minimum_and_the_same_again_with_other_workers(optimizer):
    found = [culmen.minimize(valley, BOX, budget=1500, optimizer=optimizer, workers=n) for n in (1, 2)]
    assert found[0].optimizer == optimizer
    assert found[0].value < 1e-6
    assert found[0].best == found[1].best


@pytest.mark.parametrize("optimizer", ["annealing", "de", "evolution", "swarm"])
def test_without_generations_there_is_always_something_to_do(optimizer):
    search = culmen.Optimizer(BOX, optimizer, generational=False)
    running = search.ask(50)
    for _ in range(3000):
        running += search.ask(50 - len(running))
        assert len(running) == 50
        candidate = running.pop(len(running) * 7 // 13)
        search.tell(candidate, valley(candidate.params))
    assert min(valley(candidate.params) for candidate in running) < 1e-2


def test_de_takes_choices_and_a_swarm_does_not():
    space = {"x": (-5, 5), "c": culmen.categorical(["s", "t", "u"])}
    result = culmen.minimize(lambda p: p["x"] ** 2 + (p["c"] != "u"), space, budget=800, optimizer="de", workers=2)
    assert result.best["c"] == "u"
    with pytest.raises(culmen.InputError, match="'swarm' needs parameters with an order; 'c' is categorical"):
        culmen.minimize(lambda p: p["x"] ** 2, space, budget=800, optimizer="swarm", workers=2)


def two_valleys(p):
    return {"near": p["x"] ** 2 + (p["c"] != "u"), "far": (p["x"] - 2) ** 2 + (p["c"] != "u")}


@pytest.mark.parametrize("generational", [True, False])
def test_nsga2_finds_the_front_of_a_mixed_space(generational):
    space = {"x": (-5, 5), "c": culmen.categorical(["s", "t", "u"])}
    result = culmen.minimize(
        two_valleys,
        space,
        budget=600,
        objectives={"near": "minimize", "far": "minimize"},
        optimizer="nsga2",
        options={"generational": generational},
        workers=2,
    )
    assert result.optimizer == "nsga2"
    best = [point for point in result.front if point.params["c"] == "u"]
    assert len(best) > 50
    assert all(-0.1 < point.params["x"] < 2.1 for point in best)
