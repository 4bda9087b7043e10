"""``culmen tune app`` compares the times of calls in the benchmark with those in the program."""

import pytest
from culmen.tune.app.cells import Cell
from culmen.tune.app.unlike import remarks_on_times
from culmen.tune.cluster.choices import tuned_from, write_choices
from tuning_samples import measure

HEAD = "bcast with 4 ranks and 12 bytes took "
SLOW = f"{HEAD}0.1 µs a call in the program, but 2 µs in the benchmark: the machine may have been busy; "
WAIT = f"{HEAD}30 µs a call in the program, but 2 µs in the benchmark: in the program, ranks may wait for each other, "


@pytest.mark.parametrize(
    ("call_s", "said"),
    [(0.0, ""), (1e-7, SLOW), (3e-7, ""), (1.9e-5, ""), (3e-5, WAIT)],
)
def test_times_that_differ_by_more_than_ten_are_said(tmp_path, call_s, said):
    measure(tmp_path, "bcast", 4, (8, 16))
    write_choices(tuned_from([("bcast", 4)], tmp_path), tmp_path / "choices.csv")
    cells = [Cell("bcast", 4, 4, 12, 0.5, call_s=call_s), Cell("reduce", 4, 4, 12, 0.5, call_s=1.0)]
    remarks = list(remarks_on_times(cells, tmp_path / "choices.csv"))
    assert [each[: len(said)] for each in remarks] == ([said] if said else [])
