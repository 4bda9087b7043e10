"""Counts of CPUs and of OpenMP, from recorded files."""

import numpy as np
import pytest
from culmen.profile import layout, recorded
from culmen.profile.exported import as_object
from culmen.profile.page import advice_of
from culmen.profile.processors import processors_of
from culmen.profile.worlds import worlds_of

pytestmark = pytest.mark.no_numbers

COUNTS = {
    "instructions": 8_000_000_000,
    "cycles": 4_000_000_000,
    "memory_cycles": 1_000_000_000,
    "scalars": 300_000_000,
    "vectors": 100_000_000,
}
REGIONS = {"regions": 10, "region_ticks": 500_000_000, "region_work": 750_000_000, "region_room": 1_000_000_000}


def ranks_of(folder, **counts):
    """One rank of two seconds, whose ticks are nanoseconds."""
    file = np.zeros((), layout.FILE)
    header = file["header"]
    header["magic"], header["size"], header["cpu_ns"] = layout.MAGIC, 1, 2_000_000_000
    for what in ("ticks", "ns"):
        header[f"start_{what}"], header[f"end_{what}"] = 1_000_000_000, 3_000_000_000
    for name, value in counts.items():
        header[name] = value
    folder.mkdir()
    (folder / "host.1.profile").write_bytes(file.tobytes())
    return recorded.read_folder(folder)


def test_counts_of_the_cpus_become_shares(tmp_path):
    said = " ".join(processors_of(ranks_of(tmp_path / "all", **COUNTS)))
    assert "2.00 instructions per cycle" in said
    assert "In 25% of the cycles, it waited for data" in said
    assert "floating-point instructions, 25% worked on vectors" in said
    assert "OpenMP" not in said


def test_what_cannot_be_counted_is_one_sentence(tmp_path):
    said = [each for each in processors_of(ranks_of(tmp_path / "none")) if "count" in each]
    assert len(said) == 1
    assert "does not let users count instructions" in said[0]
    few = " ".join(processors_of(ranks_of(tmp_path / "few", instructions=8, cycles=4)))
    assert "2.00 instructions per cycle" in few
    assert "vector" not in few
    still = " ".join(processors_of(ranks_of(tmp_path / "still", **{**COUNTS, "scalars": 0, "vectors": 0})))
    assert "waited for data" in still
    assert "vectors" not in still


def test_time_in_openmp_and_the_work_in_it_are_told(tmp_path):
    ranks = ranks_of(tmp_path / "openmp", **REGIONS)
    said = " ".join(processors_of(ranks))
    assert "OpenMP regions take 25.0% of the time of the ranks" in said
    assert "worked for 75% of the time" in said
    rank = as_object(worlds_of(ranks), {})["ranks"][0]
    assert (rank["regions"], rank["region_s"], rank["region_work"]) == (10, 0.5, 0.75)
    assert rank["vectors"] is None


def test_a_cpu_without_an_invariant_counter_is_one_sentence(tmp_path):
    for folder, invariant in (("with", 1), ("without", 0)):
        ranks = ranks_of(tmp_path / folder, invariant=invariant, host=b"node1")
        said = [each for each in advice_of(ranks) if "TSC" in each]
        assert len(said) == 1 - invariant
        assert all(each.startswith("The CPUs of node1 have no invariant TSC") for each in said)
        assert as_object(worlds_of(ranks), {})["ranks"][0]["invariant_tsc"] is bool(invariant)
