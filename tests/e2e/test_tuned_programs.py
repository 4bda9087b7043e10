"""`culmen tune command` on programs that are not noisy, so that each verdict is certain."""

import json
import signal
import subprocess
from collections import Counter

import pytest
from harness import CULMEN, HANGS_S, Running, copy_example, culmen, environment, wait_for

import culmen as package

APP = """#!/bin/sh
{before}
echo "rate = $(( 100 - ({value} - 3) * ({value} - 3) ))"
"""
RECIPE = """
[space]
n = {{ type = "integer", lower = 1, upper = 9, initial = 8 }}
[evaluator]
command = ["./app.sh", "{{n}}"]
values = {{ rate = {{ regex = 'rate = (\\S+)' }} }}
[objectives]
rate = "maximize"
[stop]
evaluations = {evaluations}
[tune]
rounds = 4
price_per_core_hour = 1
cores = 2
{more}
"""


def write(folder, value="$1", before="", evaluations=20, more=""):
    (folder / "app.sh").write_text(APP.format(value=value, before=before))
    (folder / "app.sh").chmod(0o755)
    (folder / "app.toml").write_text(RECIPE.format(evaluations=evaluations, more=more))


def tune(folder, *words):
    return culmen("tune", "command", "app.toml", *words, cwd=folder)


def test_better_settings_are_found_and_judged(tmp_path):
    write(tmp_path)
    done = tune(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "In 4 rounds with both settings in turns: rate 75 before, 100 after" in done.stdout
    assert "Use the new settings: 33.3 % more rate, interval of 95 %: 33.3 to 33.3 %." in done.stdout
    assert "and cost" in done.stdout
    assert f"\nUse this line:\n  {tmp_path}/app.sh 3\n" in done.stdout
    result = json.loads((tmp_path / "tune-app" / "result.json").read_text())
    assert (result["present"], result["best_found"], result["use"]) == ({"n": 8}, {"n": 3}, "best_found")
    assert result["effects"][0]["name"] == "n"
    page = (tmp_path / "tune-app" / "tuning.html").read_text()
    assert all(f'"{figure}"' in page for figure in ("comparison", "effects", "search"))


def test_settings_without_effect_are_kept(tmp_path):
    write(tmp_path, value="5")
    done = tune(tmp_path, "--quiet")
    assert done.returncode == 0, done.stderr
    assert "Keep what you have" in done.stdout
    assert "Use th" not in done.stdout
    assert json.loads((tmp_path / "tune-app" / "result.json").read_text())["use"] == "present"


def test_a_program_that_fails_as_it_is_ends_the_command(tmp_path):
    write(tmp_path, before="echo no licence >&2; exit 3")
    done = tune(tmp_path)
    assert done.returncode == 2
    assert "the program failed with the present settings" in done.stderr
    assert "no licence" in done.stderr


def test_settings_with_which_the_program_fails_are_no_result(tmp_path):
    write(tmp_path, before='if [ "$1" = 3 ]; then kill -ILL $$; fi')
    done = tune(tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "tune-app" / "result.json").read_text())["best_found"]["n"] in (2, 4)


def test_failures_of_the_search_are_named(tmp_path):
    """One build fails, and the program fails in two other ways."""
    write(tmp_path, before="case $1 in 3) kill -ILL $$;; 4|5) echo no memory for $1 >&2; exit 3;; esac")
    text = (tmp_path / "app.toml").read_text()
    log = "printf '%03000d\\n' 1; echo Compiling; echo flag.c: error: a bad flag; echo Stop"  # with a long line
    build = f'[build]\ncommand = ["sh", "-c", "[ $0 != 7 ] || {{ {log}; exit 1; }}", "{{n}}"]\n[evaluator]'
    (tmp_path / "app.toml").write_text(text.replace("[evaluator]", build))
    done = tune(tmp_path)
    assert done.returncode == 0, done.stderr
    found = package.read(tmp_path / "tune-app" / "search.db")
    failed = Counter(found.columns["n"][found.failed])
    lines = [line for line in done.stdout.splitlines() if "of 20 runs of the search failed: " in line]
    of_build = next(line for line in lines if "the build ended with exit code 1: sh -c" in line)
    assert of_build.startswith(f"{failed[7]} of 20 runs")
    folder = tmp_path / "tune-app" / "search.work"
    log = next(folder / str(k) / "stderr.txt" for k in found.evaluation if found.columns["n"][k] == 7)
    assert of_build.endswith(f" 7: flag.c: error: a bad flag (whole text: {log.relative_to(tmp_path)})")
    assert "a bad flag" in log.read_text()
    of_memory = next(line for line in lines if "exit code 3: no memory for " in line)
    assert of_memory.startswith(f"{failed[4] + failed[5]} of 20 runs"), "numbers may differ in runs of one kind"
    assert any("SIGILL" in line for line in lines) == (failed[3] > 0)
    assert [int(line.split()[0]) for line in lines] == sorted((int(line.split()[0]) for line in lines), reverse=True)
    page = (tmp_path / "tune-app" / "tuning.html").read_text()
    assert "the build ended with exit code 1" in page
    assert "Compiling\n  flag.c: error: a bad flag\n  Stop</pre>" in page, "the end of the log of the build"
    result = json.loads((tmp_path / "tune-app" / "result.json").read_text())
    assert sum(kind["runs"] for kind in result["failures"]) == sum(failed.values())
    assert [bool(kind["end"]) for kind in result["failures"] if "build" in kind["why"]] == [True]


def test_a_program_without_the_number_is_a_sentence(tmp_path):
    write(tmp_path)
    (tmp_path / "app.sh").write_text("#!/bin/sh\necho nothing\n")
    done = tune(tmp_path)
    assert done.returncode == 2
    assert "matches nothing in the standard output" in done.stderr


def test_the_same_command_continues(tmp_path):
    write(tmp_path, before="sleep 0.05; echo run >> $CULMEN_STUDY_FOLDER/runs", evaluations=60)
    process = subprocess.Popen(
        [*CULMEN, "tune", "command", "app.toml"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    runs = tmp_path / "runs"
    wait_for(lambda: runs.exists() and len(runs.read_text().splitlines()) >= 6, "six runs")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=HANGS_S)
    assert process.returncode == 75, out
    assert "the same command continues" in out
    told = len(package.read(tmp_path / "tune-app" / "search.db"))
    assert 4 <= told < 60, (
        "one of the six was a first one with the present settings, and another one may not have ended"
    )
    done = tune(tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(package.read(tmp_path / "tune-app" / "search.db")) == 60
    assert len(runs.read_text().splitlines()) <= 1 + 60 + 8 + 1, "at most the interrupted run is repeated"


def test_a_quiet_command_also_says_that_it_continues(tmp_path):
    write(tmp_path, before="sleep 0.05; echo run >> $CULMEN_STUDY_FOLDER/runs", evaluations=60)
    with Running("tune", "command", "app.toml", "--quiet", cwd=tmp_path) as first:
        wait_for((tmp_path / "runs").exists, "a run")
        first.process.send_signal(signal.SIGTERM)
        code, out, err = first.end()
    assert (code, out) == (75, "")
    assert "the same command continues" in err


def test_the_lines_build_and_run_the_recommended_settings(tmp_path):
    write(tmp_path, value="$(cat $0.value)", before="[ $extra = true ] || exit 3")
    text = (tmp_path / "app.toml").read_text().replace('["./app.sh", "{n}"]', '["{build}/app.sh"]')
    build = (
        'extra = { type = "boolean", value = true }\n[build]\nsources = ["app.sh"]\n'
        'command = ["sh", "-c", "echo $0 > app.sh.value", "{n}"]\n[evaluator]'
    )
    (tmp_path / "app.toml").write_text(text.replace("[evaluator]", build))
    done = tune(tmp_path, "--quiet")
    assert done.returncode == 0, done.stderr
    *_, title, first, second = done.stdout.splitlines()
    assert title == "Use these lines:"
    ran = subprocess.run(["sh", "-c", f"{first}\n{second}"], cwd="/", capture_output=True, text=True, timeout=HANGS_S)
    assert ran.stdout == "rate = 100\n", ran.stderr


def test_another_file_does_not_continue(tmp_path):
    write(tmp_path)
    assert tune(tmp_path).returncode == 0
    (tmp_path / "app.toml").write_text((tmp_path / "app.toml").read_text().replace("upper = 9", "upper = 12"))
    done = tune(tmp_path)
    assert done.returncode == 2
    assert "write --overwrite" in done.stderr
    assert tune(tmp_path, "--overwrite").returncode == 0


def test_what_is_measured_needs_no_number(tmp_path):
    for measure in ("wall_time", "cpu_time", "memory"):
        write(tmp_path, evaluations=4, more=f'measure = "{measure}"')
        text = (tmp_path / "app.toml").read_text()
        text = text.replace("""values = { rate = { regex = 'rate = (\\S+)' } }\n""", "")
        (tmp_path / "app.toml").write_text(text.replace('[objectives]\nrate = "maximize"\n', ""))
        done = tune(tmp_path, "--output", measure)
        assert done.returncode == 0, done.stderr
        assert json.loads((tmp_path / measure / "result.json").read_text())["objective"] == measure.replace("_", " ")


def test_the_example_builds_each_variant_once(tmp_path):
    copy_example("20_tune_command", tmp_path)
    text = (tmp_path / "matmul.toml").read_text()
    text = text.replace("evaluations = 120", "evaluations = 12").replace("rounds = 10", "rounds = 3")
    (tmp_path / "matmul.toml").write_text(text)
    done = culmen("tune", "command", "matmul.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "In 3 rounds with both settings in turns: gflops" in done.stdout or "Keep what you have" in done.stdout
    builds = [path for path in (tmp_path / "tune-matmul" / "builds").iterdir() if path.is_dir()]
    found = package.read(tmp_path / "tune-matmul" / "search.db")
    variants = {tuple(row) for row in found.x[:, [0, 1, 2]]}
    assert len(builds) == len(variants)


def test_a_build_that_fails_shows_its_log(tmp_path):
    copy_example("20_tune_command", tmp_path)
    (tmp_path / "matmul.c").write_text("int main(void) { return nothing; }\n")
    done = culmen("tune", "command", "matmul.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "the build ended with exit code 1" in done.stderr
    assert "nothing" in done.stderr


def test_other_rounds_repeat_only_the_comparison(tmp_path):
    write(tmp_path, before="echo run >> $CULMEN_STUDY_FOLDER/runs")
    assert tune(tmp_path).returncode == 0
    before = len((tmp_path / "runs").read_text().splitlines())
    (tmp_path / "app.toml").write_text((tmp_path / "app.toml").read_text().replace("rounds = 4", "rounds = 6"))
    done = tune(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "In 6 rounds" in done.stdout
    assert len((tmp_path / "runs").read_text().splitlines()) == before + 12


def test_a_search_whose_time_was_up_is_not_continued(tmp_path):
    write(tmp_path, before="sleep 0.02", evaluations=1000, more="")
    text = (tmp_path / "app.toml").read_text()
    (tmp_path / "app.toml").write_text(text.replace("evaluations = 1000", "evaluations = 1000\nwall_time_s = 4"))
    done = tune(tmp_path)
    assert done.returncode == 0, done.stderr
    told = len(package.read(tmp_path / "tune-app" / "search.db"))
    assert told < 1000
    assert tune(tmp_path).returncode == 0
    assert len(package.read(tmp_path / "tune-app" / "search.db")) == told


def test_a_search_stops_when_more_runs_do_not_pay(tmp_path):
    write(tmp_path, value="5", evaluations=60)
    done = tune(tmp_path, "--use-hours", "0.001")
    assert done.returncode == 0, done.stderr
    told = len(package.read(tmp_path / "tune-app" / "search.db"))
    assert told < 30
    assert f"The search stopped after {told} runs, because more runs do not pay: one more run takes" in done.stdout
    again = tune(tmp_path, "--use-hours", "0.001")
    assert "The search stopped after" in again.stdout
    assert len(package.read(tmp_path / "tune-app" / "search.db")) == told
    assert json.loads((tmp_path / "tune-app" / "result.json").read_text())["search_ended"]["stopped"]


def test_pauses_do_not_change_the_candidates(tmp_path):
    """Annealing plans with the number of evaluations."""
    annealing = '\n[optimizer]\nname = "annealing"'
    write(tmp_path, evaluations=25, more=f"use_hours = 1000{annealing}")
    done = tune(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "The search ended at its limit after 25 runs. More runs" in done.stdout
    assert "Of 1000:00:00 with the present settings, the new settings save 250:00:00" in done.stdout
    write(tmp_path, evaluations=25, more=annealing)
    assert tune(tmp_path, "--output", "plain").returncode == 0
    paused, plain = (package.read(tmp_path / name / "search.db") for name in ("tune-app", "plain"))
    assert paused.x.tolist() == plain.x.tolist()


def test_pauses_do_not_change_the_candidates_without_a_number_of_runs(tmp_path):
    """As far as both searches come in their time: annealing would plan with the number of runs before a pause."""
    for name, use in (("paused", "use_hours = 1000"), ("plain", "")):
        write(tmp_path, evaluations=1, more=f'{use}\n[optimizer]\nname = "annealing"')
        text = (tmp_path / "app.toml").read_text()
        (tmp_path / "app.toml").write_text(text.replace("evaluations = 1\n", "wall_time_s = 4\n"))
        done = tune(tmp_path, "--output", name)
        assert done.returncode == 0, done.stderr
    paused, plain = (package.read(tmp_path / name / "search.db") for name in ("paused", "plain"))
    both = min(len(paused.x), len(plain.x))
    assert both > 0
    assert paused.x[:both].tolist() == plain.x[:both].tolist()


@pytest.mark.slow
def test_a_search_that_pauses_also_continues(tmp_path):
    write(
        tmp_path, before="sleep 0.05; echo run >> $CULMEN_STUDY_FOLDER/runs", evaluations=40, more="use_runs = 9999999"
    )
    with Running("tune", "command", "app.toml", cwd=tmp_path) as first:
        runs = tmp_path / "runs"
        wait_for(lambda: runs.exists() and len(runs.read_text().splitlines()) >= 14, "fourteen runs")
        first.process.send_signal(signal.SIGINT)
        code, out, err = first.end()
    assert code == 75, out + err
    done = tune(tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(package.read(tmp_path / "tune-app" / "search.db").order) == 40
    assert len(runs.read_text().splitlines()) <= 1 + 40 + 8 + 1, "at most the interrupted run is repeated"


IDLE = """#!/bin/sh
rate=$(( 100 - ($1 - 3) * ($1 - 3) ))
{more}
echo "rate = $rate"
"""


def write_idle(folder, more=""):
    """``idle`` has no effect at all, but the present value of it is never tried by chance alone."""
    write(folder, evaluations=40)
    (folder / "app.sh").write_text(IDLE.format(more=more))
    text = (folder / "app.toml").read_text().replace('["./app.sh", "{n}"]', '["./app.sh", "{n}", "{idle}"]')
    idle = 'idle = { type = "integer", lower = 1, upper = 50, initial = 50 }\n[evaluator]'
    (folder / "app.toml").write_text(text.replace("[evaluator]", idle))


def test_settings_that_do_not_matter_are_left_out(tmp_path):
    write_idle(tmp_path)
    done = tune(tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "tune-app" / "result.json").read_text())
    assert result["best_found"] == {"n": 3, "idle": 50}
    assert result["use"] == "best_found"
    assert result["not_needed"]["parameters"] == ["idle"]
    assert result["not_needed"]["left_out"]
    assert "idle keeps its present value: without this change, the runs were no worse (0.0 % more rate" in done.stdout
    assert len(package.read(tmp_path / "tune-app" / "comparison.db")) == 3 * 4


def test_settings_that_only_seem_not_to_matter_stay(tmp_path):
    """The best value of n is better still with another value of idle."""
    write_idle(tmp_path, more="if [ $rate = 100 ] && [ $2 != 50 ]; then rate=110; fi")
    done = tune(tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "tune-app" / "result.json").read_text())
    if result["not_needed"] is None:
        assert next(effect for effect in result["effects"] if effect["name"] == "idle")["matters"]
    else:
        assert not result["not_needed"]["left_out"]
        assert "idle may not matter, but the rounds could not show this, so the change stays" in done.stdout
    assert result["best_found"]["n"] == 3
    assert result["best_found"]["idle"] != 50


def test_a_tuning_in_the_background_is_followed_and_collected(tmp_path):
    write(tmp_path, evaluations=12, more="[job]\ntime = '10'\ntasks_per_node = 1")
    done = tune(tmp_path, "--submit", "local", "--scratch", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(1 × 1 tasks, at most 00:10:00)" in done.stdout
    assert "Use the new settings: 33.3 % more rate" in done.stdout
    assert json.loads((tmp_path / "tune-app" / "result.json").read_text())["best_found"] == {"n": 3}
    assert (tmp_path / "tune-app" / "tuning.html").exists()
    assert not list(tmp_path.glob("culmen-*")), "the local folder of the job is removed"
    refused = tune(tmp_path, "--nodes", "2")
    assert refused.returncode == 2
    assert "--nodes is an option of a job; add --submit slurm" in refused.stderr
