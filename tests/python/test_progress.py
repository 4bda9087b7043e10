"""The display of progress while a study runs."""

import sys
from types import SimpleNamespace

import pytest
from culmen.base.terminal import in_notebook
from culmen.base.text import clock, few, lasted, per_second
from culmen.run.progress.bar import Bar
from culmen.run.progress.cell import Cell
from culmen.run.progress.figures import Recent, Words, counted, figures, layout
from culmen.run.progress.monitor import Lines, Silent, make_monitor, words_of


def seen(**changes):
    usual = {"phase": "running", "evaluations": 50, "budget": 100, "best_value": 1.5, "busy": 7, "workers": 8}
    usual |= {"oldest": None, "oldest_for_s": 0.0, "last_loss": "", "refused": 0, "last_refusal": ""}
    return SimpleNamespace(**{**usual, "failed": 0, "retried": 0, "lost": 0, "elapsed_s": 2.0, **changes})


def recent(*moments):
    out = Recent()
    for moment in moments:
        out.see(moment)
    return out


def test_figures_name_only_what_is_there():
    running = recent(seen(elapsed_s=1.0, evaluations=25), seen())
    assert figures(seen(), running) == ["best 1.5", "0:00:02 left", "25/s", "7/8 busy"]
    assert figures(seen(best_value=None, failed=2, lost=1, phase="stopping"), running) == [
        "stopping",
        "2 failed",
        "1 lost",
    ]
    assert figures(seen(phase="done"), running) == ["best 1.5"]
    of_the_first = words_of([("cost", "minimize"), ("range", "maximize")])
    assert figures(seen(phase="done"), running, of_the_first) == ["best cost 1.5"]
    assert words_of([("cost", "minimize")]).best == "best"
    assert figures(seen(workers=0, best_value=None), recent()) == ["0/s", "waiting for workers"]
    alone = seen(workers=0, best_value=None, last_loss="worker 3: it sent too much")
    assert figures(alone, recent()) == ["0/s", "waiting for workers (lost: worker 3: it sent too much)"]
    refused = seen(workers=0, best_value=None, refused=2, last_refusal="it gave no token")
    assert figures(refused, recent()) == [
        "0/s",
        "waiting for workers",
        "2 workers refused (the last one: it gave no token)",
    ]


def test_points_of_a_measurement_have_no_best_value_and_no_workers():
    words = Words("points measured", best="")
    point = seen(evaluations=1, budget=8, workers=1, busy=1, oldest=1, oldest_for_s=99.0)
    assert counted(point, words) == "1/8 points measured"
    assert figures(point, recent(point), words) == []
    assert figures(point, recent(seen(elapsed_s=1.0, evaluations=0, budget=8), point), words) == ["0:00:07 left"]
    assert figures(seen(evaluations=0, budget=8, workers=0, failed=1), recent(), words) == ["starting", "1 failed"]
    assert layout(point, recent(point), 30, words)[1] == "1/8  0:00:02"


def test_an_evaluation_that_hangs_is_named_once_nothing_arrives():
    hangs = seen(oldest=25, oldest_for_s=612.0)
    assert not any(
        "evaluation 25" in part for part in figures(hangs, recent(seen(elapsed_s=1.0, evaluations=25), hangs))
    )
    assert "evaluation 25 has run for 0:10:12 (time_limit_s can stop it)" in figures(hangs, recent(hangs))
    assert not any("time_limit_s" in part for part in figures(seen(oldest=25, oldest_for_s=12.0), recent(hangs)))


def test_a_replay_shows_no_speed():
    assert figures(seen(phase="replaying"), recent()) == ["replaying", "best 1.5"]


def test_busy_workers_are_averaged_over_the_last_seconds():
    moments = [seen(elapsed_s=0.05 * i, busy=8 * (i % 4 == 0)) for i in range(400)]
    assert figures(seen(), recent(*moments))[2] == "2/8 busy"
    assert figures(seen(), recent(*moments, *(seen(elapsed_s=20 + i / 10, busy=8) for i in range(60))))[2] == "8/8 busy"


@pytest.mark.parametrize(("workers", "text"), [(0.0, "0"), (1.26, "1.3"), (7.98, "8"), (9.96, "10"), (99.4, "99")])
def test_few(workers, text):
    assert few(workers) == text


def test_the_budget_is_shown_where_there_is_one():
    assert counted(seen()) == "50/100 evaluations"
    assert counted(seen(budget=0)) == "50 evaluations"


@pytest.mark.parametrize("width", [0, 1, 10, 20, 30, 40, 57, 60, 77, 100, 200])
@pytest.mark.parametrize("changes", [{}, {"budget": 0}, {"failed": 12345, "lost": 3}, {"evaluations": 120}])
def test_the_line_fits_every_width(width, changes):
    room, text = layout(seen(**changes), recent(seen()), width)
    assert len(text) + (room + 2 if room else 0) <= width


def test_what_matters_least_is_left_out_first():
    at = {width: layout(seen(failed=3), recent(seen()), width)[1] for width in (100, 70, 40)}
    assert at[100].split("  ") == ["50/100 evaluations", "best 1.5", "0/s", "7/8 busy", "3 failed", "0:00:02"]
    assert at[70].split("  ") == ["50/100", "best 1.5", "0/s", "7/8 busy", "3 failed", "0:00:02"]
    assert at[40].split("  ") == ["50/100", "best 1.5", "0/s", "7/8 busy"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00:00"), (59.9, "0:00:59"), (3723, "1:02:03"), (90000, "25:00:00")]
)
def test_clock(seconds, text):
    assert clock(seconds) == text


def test_what_was_short_is_told_in_seconds():
    assert [lasted(seconds) for seconds in (0.01234, 4.567, 59.99, 60)] == ["0.0123 s", "4.57 s", "60 s", "0:01:00"]


@pytest.mark.parametrize(("rate", "text"), [(0.123, "0.12/s"), (9.99, "10/s"), (1234.5, "1234/s")])
def test_rates(rate, text):
    assert per_second(rate) == text


def test_the_rate_is_that_of_the_last_seconds():
    moments = [seen(elapsed_s=float(second), evaluations=1000 + 10 * second) for second in range(1, 11)]
    assert recent(seen(elapsed_s=0.0, evaluations=0), *moments).rate == pytest.approx(10)


def test_what_was_done_before_a_resume_is_no_speed():
    replay = [seen(elapsed_s=i / 10, evaluations=i * 10_000, phase="replaying") for i in range(10)]
    here = [seen(elapsed_s=1.5, evaluations=100_000), seen(elapsed_s=2.5, evaluations=100_020)]
    assert recent(*replay, *here).rate == pytest.approx(20)


def test_lines_come_after_a_second_and_then_with_growing_gaps(capsys):
    lines = Lines()
    for tick in range(1, 12_000):
        lines.update(seen(elapsed_s=tick * 0.05))
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "culmen: 50/100 evaluations, best 1.5, 0/s, 7/8 busy, 0:00:01"
    assert 8 <= len(printed) <= 25


def test_a_bar_is_drawn_also_into_a_pipe(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    bar = Bar()
    bar.update(seen(elapsed_s=1.0))
    bar.update(seen(elapsed_s=1.01, evaluations=51))
    bar.close()
    out = capsys.readouterr().out
    assert "50/100 evaluations  best 1.5" in out
    assert "51/100" not in out
    assert out.index("\x1b[?25l") < out.index("\x1b[?25h"), "the cursor stays visible while it is drawn"
    assert "\x1b[?1049" not in out
    assert out.rstrip("\x1b[?25h").endswith("\n")


@pytest.mark.parametrize(
    ("setting", "wanted", "kind"),
    [
        ("", None, Silent),
        ("", True, Lines),
        ("lines", None, Lines),
        ("none", True, Silent),
        ("bar", True, Bar),
        ("bar", False, Silent),
        ("nonsense", True, Lines),
    ],
)
def test_the_environment_decides_what_is_drawn(setting, wanted, kind, monkeypatch):
    monkeypatch.setenv("CULMEN_PROGRESS", setting)
    monitor = make_monitor(wanted)
    monitor.close()
    assert type(monitor) is kind


@pytest.fixture
def notebook(monkeypatch):
    """A Jupyter kernel's IPython; what is displayed and what takes its place, in order."""
    shown = []

    def display(what, display_id=False):
        shown.append(what)
        return SimpleNamespace(update=shown.append)

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    return shown


def test_in_a_notebook_a_cell_shows_the_progress_without_being_asked(notebook):
    assert in_notebook()
    cell = make_monitor(None)
    assert type(cell) is Cell
    cell.update(seen(elapsed_s=1.0))
    cell.update(seen(elapsed_s=1.01, evaluations=51))
    cell.update(seen(elapsed_s=1.02, evaluations=100, phase="done"))
    cell.close()
    assert [line.evaluations for line in notebook] == [50, 100]
    assert '<progress max="100" value="100">' in notebook[-1]._repr_html_()
    assert repr(notebook[0]).startswith("50/100 evaluations  best 1.5")
    assert type(make_monitor(False)) is Silent


def test_ipython_in_a_terminal_is_no_notebook(notebook, monkeypatch):
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: SimpleNamespace())
    assert not in_notebook()
