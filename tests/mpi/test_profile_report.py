"""A saved profile, as text and as JSON, as a whole and in parts."""

import json
import re

import pytest
from culmen.profile.figures import figures_of
from culmen.profile.recorded import read_folder
from harness import culmen
from profiles import built, profiled

pytestmark = pytest.mark.either("mpi")

RANKS = 2


@pytest.fixture
def saved(mpi, tmp_path):
    """The folder in which `out` is the profile of traffic_program.c."""
    done = profiled(tmp_path, built(mpi, tmp_path, "traffic_program.c"), RANKS)
    assert done.returncode == 0, done.stderr
    return tmp_path


def report(folder, *words):
    done = culmen("profile", "report", "out", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def calls_of(folder, *words) -> list[dict]:
    return json.loads(report(folder, "--json", *words))["calls"]


def test_json_has_what_the_profile_has(saved):
    read = json.loads(report(saved, "--json"))
    assert (read["size"], [rank["rank"] for rank in read["ranks"]]) == (RANKS, [0, 1])
    assert all(rank["seconds"] > 0 and rank["further_calls"] == rank["uncharged"] == 0 for rank in read["ranks"])
    [found] = [each for each in read["calls"] if each["function"] == "MPI_Sendrecv" and each["rank"] == 0]
    assert {key: found[key] for key in ("communicator", "ranks", "peer", "calls", "bytes")} == {
        "communicator": "world",
        "ranks": RANKS,
        "peer": 1,
        "calls": 10,
        "bytes": 640,
    }
    assert (found["least_bytes"], found["most_bytes"]) == (64, 127)
    assert 0 < found["least_s"] <= found["most_s"] <= found["seconds"]
    waits = [each for each in read["calls"] if each["function"] == "MPI_Waitall"]
    assert {(each["communicator"], each["ranks"], each["peer"]) for each in waits} == {(None, None, None)}
    assert sum(each["waits_s"] for each in read["calls"]) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("words", "functions"),
    [
        (["--functions", "bcast,MPI_Barrier"], {"MPI_Bcast", "MPI_Barrier"}),
        (["--functions", "I*"], {"MPI_Isend", "MPI_Irecv"}),
        (["--functions", "Alltoall*", "--sizes", "0-1K"], {"MPI_Alltoall", "MPI_Alltoallv"}),
        (["--sizes", "0", "--communicators", "world"], {"MPI_Send", "MPI_Barrier", "MPI_Comm_split"}),
        (["--communicators", "world/*/dup*"], {"MPI_Barrier", "MPI_Comm_free"}),
        (["--sizes", "1M-4M"], set()),
    ],
)
def test_a_part_is_chosen(saved, words, functions):
    assert {each["function"] for each in calls_of(saved, *words)} == functions
    text = report(saved, *words)
    said = re.search(r"The chosen calls take (\d+)% of the time", text)
    assert said
    read = json.loads(report(saved, "--json", *words))
    chosen_s = sum(each["seconds"] + each["waits_s"] for each in read["calls"])
    assert int(said[1]) == pytest.approx(100 * chosen_s / sum(rank["seconds"] for rank in read["ranks"]), abs=0.51)
    assert all(function in text for function in functions)
    assert "MPI-bound" not in text


def test_all_rows_are_shown_if_asked_for(saved):
    assert re.search(r"\d+ more ", report(saved))
    everything = report(saved, "--all")
    assert not re.search(r"\d+ more ", everything)
    assert all(each["function"] in everything for each in calls_of(saved))


def test_wrong_choices_are_one_sentence(saved):
    for words, said in {
        (
            "--functions",
            "MPI_Bcats",
        ): "--functions: nothing in the profile is called 'MPI_Bcats'; did you mean 'MPI_Bcast'?",
        ("--communicators", "word"): "--communicators: nothing in the profile is called 'word'; did you mean 'world'?",
        ("--sizes", "4M-1K"): "--sizes must be a size or a range such as 1K-4M, got '4M-1K'",
        ("--sizes", "big"): "--sizes must be a size or a range such as 1K-4M, got 'big'",
        ("--al",): "culmen profile report: there is no option '--al'",
    }.items():
        done = culmen("profile", "report", "out", *words, cwd=saved)
        assert done.returncode == 2
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["report"], "culmen profile report: FOLDER is missing; write `culmen profile report FOLDER`\n"),
        (
            ["report", "nowhere"],
            "culmen: nowhere has no profile; `culmen profile -- mpiexec -n 4 ./app` writes one\n",
        ),
        (["--", "report"], "culmen: the program 'report' was not found; write the path of a program after --\n"),
    ],
)
def test_a_report_without_a_profile_is_one_sentence(words, said, tmp_path):
    done = culmen("profile", *words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, said)


def test_a_profile_is_drawn(saved):
    assert report(saved, "--html") == "Wrote out/profile.html\n"
    page = (saved / "out/profile.html").read_text()
    for title in ("Load balance", "Traffic between ranks", "Sizes", "Functions", "Ranks"):
        assert title in page
    ranks = read_folder(saved / "out")
    drawn = {figure.key: figure for figure in figures_of(ranks)}
    sent = sum(each["bytes"] for each in calls_of(saved) if "end" in each["function"] and each["peer"] is not None)
    assert sum(sum(row["marker"]["color"]) for row in drawn["traffic"].data) == sent > 0
    for k, rank in enumerate(ranks):
        assert sum(bar["y"][k] for bar in drawn["balance"].data) == pytest.approx(rank.seconds, rel=1e-6)
    counted = sum(sum(bar["y"]) for bar in drawn["sizes"].data)
    assert 0 < counted <= sum(each["calls"] for each in calls_of(saved))


def test_a_part_of_a_profile_is_drawn(saved):
    report(saved, "--html", "--functions", "Barrier")
    page = (saved / "out/profile.html").read_text()
    assert "MPI_Barrier" in page
    assert "MPI_Sendrecv" not in page
    assert "Traffic between ranks" not in page
