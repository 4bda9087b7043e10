"""culmen report, export, compare and status --watch as users type them, and their mistakes."""

import csv
import html
import json
import re
import signal

import pyarrow.parquet
import pytest
from harness import HANGS_S, Running, culmen, sequence, store_is_ready, summary, wait_for, write_study

pytestmark = pytest.mark.no_numbers


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A folder with study.toml, its finished store study.db, and other.db of another seed."""
    folder = tmp_path_factory.mktemp("done")
    write_study(folder, 80)
    (folder / "model.py").write_text("def f(p):\n    assert p['x'] < 1\n    return p['x'] ** 2 + p['y'] ** 2\n")
    assert culmen("run", "study.toml", "--quiet", cwd=folder).returncode == 0
    more = ("--seed", 2, "--store", "other.db", "--evaluations", 120)
    assert culmen("run", "study.toml", "--quiet", *more, cwd=folder).returncode == 0
    return folder


def test_a_report_is_written_beside_the_store_and_again(done):
    for _ in range(2):
        said = culmen("report", "study.db", cwd=done)
        assert (said.returncode, said.stderr) == (0, "")
        assert said.stdout == "Wrote the report on 80 evaluations to study.html\n"
    page = (done / "study.html").read_text()
    assert "assert p[&#x27;x&#x27;] &lt; 1" in page or "AssertionError" in page
    assert "culmen run study.toml --seed 1 --store again.db" in page


def test_the_study_file_on_the_page_runs_the_same_study(done):
    assert culmen("report", "study.db", "-o", "page.html", cwd=done).returncode == 0
    page = (done / "page.html").read_text()
    (text,) = [t for t in map(html.unescape, re.findall("<pre>(.*?)</pre>", page, re.DOTALL)) if "[evaluator]" in t]
    (done / "again.toml").write_text(text)
    assert culmen("run", "again.toml", "--quiet", "--store", "again.db", cwd=done).returncode == 0
    assert sequence(done / "again.db") == sequence(done / "study.db")
    assert "The stores keep no setting that differs." in culmen("compare", "study.db", "again.db", cwd=done).stdout


def test_a_report_on_a_running_study(tmp_path):
    write_study(tmp_path, 100_000)
    with Running("run", "study.toml", "--quiet", cwd=tmp_path) as run:
        store = tmp_path / "study.db"
        wait_for(lambda: store_is_ready(store) and summary(store)["told"] > 20, "some evaluations")
        said = culmen("report", "study.db", "-o", "now.html", cwd=tmp_path)
        assert (said.returncode, said.stderr) == (0, "")
        assert "running (" in (tmp_path / "now.html").read_text()
        run.process.send_signal(signal.SIGINT)
        assert run.process.wait(HANGS_S) == 75


def test_exports_have_a_row_an_evaluation(done):
    said = culmen("export", "study.db", cwd=done)
    rows = list(csv.DictReader(said.stdout.splitlines()))
    assert len(rows) == 80
    assert {"evaluation", "status", "x", "y", "value", "message"} <= set(rows[0])
    assert culmen("export", "study.db", "-o", "out.parquet", cwd=done).returncode == 0
    assert pyarrow.parquet.read_table(done / "out.parquet").num_rows == 80
    said = culmen("export", "study.db", "--json", "-o", "out.txt", cwd=done)
    assert said.stdout == "Wrote 80 evaluations to out.txt\n"
    values = [row["value"] for row in json.loads((done / "out.txt").read_text())]
    assert [repr(v) if v is not None else "" for v in values] == [row["value"] for row in rows]


def test_an_export_whose_reader_leaves_is_no_error(done):
    with Running("export", "study.db", cwd=done) as run:
        run.process.stdout.close()
        assert run.process.wait(HANGS_S) == 0
        assert run.process.stderr.read() == ""


def test_a_comparison_shows_both_and_what_differs(done):
    said = culmen("compare", "study.db", "other.db", "--html", "both.html", cwd=done)
    assert said.returncode == 0, said.stderr
    lines = [line.replace("│", " ").split() for line in said.stdout.splitlines()]
    assert ["evaluations", "80", "120"] in lines
    assert ["seed", "1", "2"] in lines
    assert ["stop.evaluations", "80", "120"] in lines
    assert any(line[:4] == ["evaluations", "to", "reach", "the"] for line in lines)
    page = (done / "both.html").read_text()
    assert "Best so far by time" in page


def test_watching_ends_with_the_study(tmp_path):
    write_study(tmp_path, 150)
    go = tmp_path / "go"
    (tmp_path / "model.py").write_text(f"""
import time
from pathlib import Path

def f(p):
    while not Path({str(go)!r}).exists():
        time.sleep(0.01)
    return sum(x * x for x in p.values())
""")
    with Running("run", "study.toml", "--quiet", cwd=tmp_path) as run:
        wait_for(lambda: store_is_ready(tmp_path / "study.db"), "the store")
        with Running("status", "study.db", "--watch", "--every", "0.1", cwd=tmp_path) as watch:
            first = watch.process.stdout.readline()
            go.touch()
            said = watch.process.stdout.read()
            assert (watch.process.wait(HANGS_S), watch.process.stderr.read()) == (0, "")
        assert run.process.wait(HANGS_S) == 0
    lines = [line for line in said.splitlines() if line.startswith("culmen: ")]
    assert first.startswith("culmen: running (")
    assert lines[-1].startswith("culmen: finished (limit of evaluations reached), 150 evaluations, best ")
    assert "best value" in said


def test_ctrl_c_ends_the_watching_alone(tmp_path):
    write_study(tmp_path, 100_000)
    with Running("run", "study.toml", "--quiet", cwd=tmp_path) as run:
        wait_for(lambda: store_is_ready(tmp_path / "study.db"), "the store")
        with Running("status", "study.db", "--watch", "--every", "0.1", cwd=tmp_path) as watch:
            watch.process.stdout.readline()
            watch.process.send_signal(signal.SIGINT)
            assert watch.process.wait(HANGS_S) == 130
        assert run.process.poll() is None
        run.process.send_signal(signal.SIGTERM)
        assert run.process.wait(HANGS_S) == 75
    assert culmen("status", "study.db", "--watch", cwd=tmp_path).returncode == 75


def test_watching_on_a_terminal_redraws_in_place(done):
    said = culmen("status", "study.db", "--watch", cwd=done, CULMEN_PROGRESS="bar", TERM="xterm", COLUMNS="100")
    assert said.returncode == 0
    assert "\x1b[?25h" in said.stdout
    assert "finished (limit of evaluations reached)" in said.stdout


def test_watching_a_study_of_nothing_but_failures_is_no_success(tmp_path):
    write_study(tmp_path, 10)
    (tmp_path / "model.py").write_text("def f(p):\n    raise ValueError('no')\n")
    assert culmen("run", "study.toml", "--quiet", cwd=tmp_path).returncode == 1
    assert culmen("status", "study.db", "--watch", cwd=tmp_path).returncode == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["report", "stody.db"], "there is no store stody.db; did you mean 'study.db'?"),
        (["report", "study.toml"], "study.toml is a study file, not a store; its store is study.db: `culmen report"),
        (["export", "study.toml"], "study.toml is a study file, not a store; its store is study.db: `culmen export"),
        (["report", "model.py"], "model.py: is not a culmen study"),
        (["report", "study.db", "-o", "no/where.html"], "no/where.html cannot be written: there is no folder "),
        (["report", "study.db", "-o", "-"], "-o - stands for no file here; give -o the name of a file"),
        (["report", "study.db", "-o", "."], ". is a folder; -o needs the name of a file"),
        (["export", "study.db", "--csv", "--json"], "--csv and --json are given; give only one of --csv, --json, "),
        (["export", "study.db", "-o", "-"], "-o - is not needed; without -o, culmen export writes to standard output"),
        (["export", "study.db", "-o", "out.xlsx"], "-o out.xlsx: this ending selects no format; write .csv, "),
        (["export", "study.db", "--parquet"], "--parquet cannot go to a terminal or a pipe; add -o FILE.parquet"),
        (["compare", "study.db", "study.db"], "study.db is given twice; give two stores"),
        (["compare", "study.db", "no.db"], "there is no store no.db"),
        (["compare", "study.db", "study.toml"],
         "study.toml is a study file, not a store; its store is study.db; write `culmen compare A.db B.db`\n"),
        (["status", "study.db", "--every", "3"], "--every 3 needs --watch"),
        (["status", "study.db", "--watch", "--json"], "--watch and --json are given; give only one of them"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence(done, words, sentence):
    said = culmen(*words, cwd=done)
    assert said.returncode == 2
    assert said.stderr.startswith("culmen: " + sentence)
    assert len(said.stderr.splitlines()) == 1


OUTPUTS = {
    "a model": (["export", "study.db", "--csv", "-o", "model.py"], "export"),
    "somebody's table": (["export", "study.db", "-o", "mine.csv"], "export"),
    "another kind of export": (["export", "study.db", "--json", "-o", "was.csv"], "export"),
    "a parquet of somebody": (["export", "study.db", "-o", "mine.parquet"], "export"),
    "a page of somebody, unasked": (["report", "study.db"], "report"),
    "a page of somebody": (["report", "study.db", "-o", "study.html"], "report"),
    "an export for a page": (["report", "study.db", "-o", "was.csv"], "report"),
    "a page of somebody, of a comparison": (["compare", "study.db", "other.db", "--html", "study.html"], "report"),
}
KEPT = {
    "the study file": (["export", "study.db", "--csv", "-o", "study.toml"], "study file", "-o"),
    "the store itself": (["export", "study.db", "--csv", "-o", "study.db"], "store, or another database", "-o"),
    "a store for a page": (["report", "study.db", "-o", "other.db"], "store, or another database", "-o"),
    "a store for a comparison": (["compare", "study.db", "other.db", "--html", "study.db"],
                                 "store, or another database", "--html"),
}  # fmt: skip


@pytest.fixture
def among_others(done, tmp_path):
    for name in ("study.toml", "study.db", "other.db", "model.py"):
        (tmp_path / name).write_bytes((done / name).read_bytes())
    for name in ("mine.csv", "mine.parquet", "study.html"):
        (tmp_path / name).write_text("x,y\n1,2\n")
    assert culmen("export", "study.db", "-o", "was.csv", cwd=tmp_path).returncode == 0
    return tmp_path


@pytest.mark.parametrize("what", OUTPUTS)
def test_nothing_of_somebody_else_is_replaced_without_force(among_others, what):
    words, kind = OUTPUTS[what]
    target = among_others / (words[-1] if len(words) > 2 else "study.html")
    before = target.read_bytes()
    said = culmen(*words, cwd=among_others)
    answer = f"{target.name} exists and is no {kind} of culmen; name another file, or replace it with --force"
    assert (said.returncode, said.stderr) == (2, f"culmen: {answer}\n")
    assert target.read_bytes() == before
    assert culmen(*words, "--force", cwd=among_others).returncode == 0
    for _ in range(2):  # and now that it is its own, also without
        assert culmen(*words, cwd=among_others).returncode == 0
    assert target.read_bytes() != before


@pytest.mark.parametrize("what", KEPT)
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_stores_and_study_files_are_never_replaced(among_others, what, force):
    words, kind, option = KEPT[what]
    before = (among_others / words[-1]).read_bytes()
    said = culmen(*words, *force, cwd=among_others)
    answer = f"{words[-1]} is a {kind}, which would be lost; give {option} another file"
    assert (said.returncode, said.stderr) == (2, f"culmen: {answer}\n")
    assert (among_others / words[-1]).read_bytes() == before
