"""What is drawn while a study runs."""

from types import SimpleNamespace

import pytest
from culmen.progress import Bar, Lines, Rate, Silent, clock, counted, figures, make_monitor, per_second


def seen(**changes):
    usual = {"phase": "running", "evaluations": 50, "budget": 100, "best_value": 1.5, "busy": 7, "workers": 8}
    return SimpleNamespace(**{**usual, "failed": 0, "retried": 0, "lost": 0, "elapsed_s": 2.0, **changes})


def test_figures_name_only_what_is_there():
    assert figures(seen(), 25.0) == ["best 1.5", "25/s", "7/8 busy"]
    assert figures(seen(best_value=None, failed=2, lost=1, phase="stopping"), 0.5) == [
        "0.5/s",
        "7/8 busy",
        "2 failed",
        "1 lost",
        "stopping",
    ]


def test_the_budget_is_shown_where_there_is_one():
    assert counted(seen()) == "50/100 evaluations"
    assert counted(seen(budget=0)) == "50 evaluations"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00:00"), (59.9, "0:00:59"), (3723, "1:02:03"), (90000, "25:00:00")]
)
def test_clock(seconds, text):
    assert clock(seconds) == text


@pytest.mark.parametrize(("rate", "text"), [(0.123, "0.12/s"), (9.99, "10/s"), (1234.5, "1234/s")])
def test_rates(rate, text):
    assert per_second(rate) == text


def test_the_rate_is_that_of_the_last_seconds():
    rate = Rate()
    assert rate.at(seen(elapsed_s=0.0, evaluations=0)) == 0
    for second in range(1, 11):
        at = rate.at(seen(elapsed_s=float(second), evaluations=1000 + 10 * second))
    assert at == pytest.approx(10)


def test_what_was_done_before_a_resume_is_no_speed():
    rate = Rate()
    rate.at(seen(elapsed_s=0.5, evaluations=100_000))
    assert rate.at(seen(elapsed_s=1.5, evaluations=100_020)) == pytest.approx(20)


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
