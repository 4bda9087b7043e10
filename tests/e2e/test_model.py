"""``culmen model``, as a user types it."""

import csv

from harness import culmen
from model_tables import MPI, write_table


def test_a_table_is_modelled_and_an_algorithm_is_chosen(tmp_path):
    write_table(tmp_path / "collectives.csv", ranks=(2, 4, 8))
    done = culmen("model", "fit", "collectives.csv", "--breaks", "4,8", "--continuous", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Wrote model/coefficients.csv and model/models.html" in done.stdout
    with (tmp_path / "model/coefficients.csv").open(newline="") as file:
        models = {row["model"] for row in csv.DictReader(file)}
    assert models == {"Hockney", "LogGP", "segmented"}

    asked = ("model", "select", "--collective", "bcast", "--size", "64K", "collectives.csv")
    done = culmen(*asked, "--ranks", "8", "--check", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"bcast, 8 ranks, 64 KiB, {MPI}: scatter_allgather_ring, ")
    assert "Regret: " in done.stdout
    assert "Each point was left out in turn: at " in done.stdout
    done = culmen(*asked, "--ranks", "48", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "analytic model" in done.stdout
    (tmp_path / "bench-collectives").mkdir()
    (tmp_path / "collectives.csv").rename(tmp_path / "bench-collectives/collectives.csv")
    again = culmen(*asked[:-1], "--ranks", "48", cwd=tmp_path)
    assert again.stdout == done.stdout, again.stderr


def test_mistakes_are_one_sentence(tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n")
    for words, says in (
        (("fit", "other.csv"), "other.csv is neither a table of `culmen bench collectives` nor one with the columns"),
        (("fit", "missing.csv"), "missing.csv cannot be read: No such file or directory"),
        (
            ("select", "--collective", "bcast", "--ranks", "4", "--size", "8", "other.csv"),
            "other.csv is no table of `culmen bench collectives`",
        ),
        (("fit", "other.csv", "--breaks", "few"), "--breaks: 'few' is no number of ranks"),
    ):
        done = culmen("model", *words, cwd=tmp_path)
        assert done.returncode == 2
        assert says in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        assert not (tmp_path / "model").exists()
