"""Wrong commands, options and arguments, and the one sentence that says what to write instead."""

import pytest
from harness import culmen as typed

import culmen

pytestmark = pytest.mark.no_numbers

# The typed words, and the whole standard error. The exit code is 2.
WORDS = {
    "rn study.toml": "culmen: there is no command 'rn'; did you mean 'run'?",
    "execute study.toml": "culmen: there is no command 'execute'; did you mean 'run'?",
    "frobnicate study.toml": "culmen: there is no command 'frobnicate'; `culmen --help` lists the commands",
    "plot study.db": "culmen: there is no command 'plot'; did you mean 'report'?",
    "version": "culmen: 'version' is not a command; write `culmen --version`",
    "--run study.toml": "culmen: there is no option '--run'; write `culmen run`, which is a command",
    "-v": "culmen: there is no option '-v'; did you mean '--version'?",
    "study.toml": "culmen: 'study.toml' is not a command; write `culmen run study.toml`",
    "study.db": "culmen: 'study.db' is not a command; write `culmen resume study.db`",
    "help": "culmen: 'help' is not a command; write `culmen --help`, or `culmen COMMAND --help`",
    "run": "culmen run: STUDY.toml is missing; write `culmen run STUDY.toml`",
    "run study.toml --wrkers 3": "culmen run: there is no option '--wrkers'; did you mean '--workers'?",
    "run study.toml --worker 3": "culmen run: there is no option '--worker'; did you mean '--workers'?",
    "run study.toml -j 3": "culmen run: there is no option '-j'; did you mean '--workers'?",
    "run study.toml -x": "culmen run: there is no option '-x'; `culmen run --help` lists the options",
    "run study.toml --force": "culmen run: there is no option '--force'; did you mean '--overwrite'?",
    "run study.toml --resume": "culmen run: there is no option '--resume'; write `culmen resume`, which is a command",
    "export study.db --format csv": "culmen export: there is no option '--format'; did you mean '--csv'?",
    "export study.db out.csv": "culmen export: unexpected 'out.csv'; write `culmen export STUDY.db -o out.csv`",
    "run study.toml --optimizer random": "culmen run: there is no option '--optimizer'; set it in the study file, in "
    "[optimizer]",
    "run study.toml --time-limit-s 3": "culmen run: there is no option '--time-limit-s'; set it in the study file, in "
    "[evaluator]",
    "run study.toml --workers": "culmen run: --workers needs a value; `culmen run --help` lists the options",
    "worker ws://127.0.0.1:1 --study study.toml --workers 4": "culmen worker: there is no option '--workers'; did you "
    "mean '--slots'?",
    "run study.toml --workers 0": "culmen run: --workers must be at least 1, got 0",
    "run study.toml --workers two": "culmen run: --workers must be a whole number, got two",
    "run study.toml --evaluations 1e-4": "culmen run: --evaluations must be a whole number, got 1e-4",
    "run study.toml --evaluations -5": "culmen run: --evaluations must be at least 1, got -5",
    "run study.toml --target low": "culmen run: --target must be a number, got low",
    "run study.toml --target nan": "culmen: study.toml: target must be a finite number, got NaN",
    "run study.toml --wall-time 1h": "culmen run: --wall-time must be a number, got 1h",
    "run study.toml --threads --worker-processes": "culmen: --threads and --worker-processes are given; give only "
    "one of them",
    "run study.toml model.py": "culmen run: unexpected 'model.py'; write `culmen run STUDY.toml`",
    "run model.py": "culmen: model.py is a Python file, not a study file; a study file names it, with this "
    "line in [evaluator]: "
    'python = "model.py:FUNCTION" (create one with `culmen init`)',
    "run model.py:f": "culmen: model.py:f is a function, not a study file; a study file names it, with this "
    "line in [evaluator]: "
    'python = "model.py:f" (create one with `culmen init`)',
    "run .": "culmen: . is a folder; give a study file, such as study.toml",
    "run study": "culmen: there is no study file study; did you mean 'study.toml'?",
    "run stud": "culmen: there is no study file stud; did you mean 'study.toml'?",
    "check model": "culmen: there is no study file model; create one with `culmen init`",
    "status model.py": "culmen: model.py: is not a culmen study; give the store of a study, which `culmen run` "
    "writes as NAME.db",
    "profiles study.db": "culmen: 'profiles' is not a command; write `culmen errors STUDY.db --profile` for the "
    "profiles of a fit",
    "profile study.db": "culmen: study.db is no program; for the profiles of a fit, write `culmen errors study.db "
    "--profile`",
    "export study.db --digits 3": "culmen export: there is no option '--digits'; an export has all digits",
    "status .": "culmen: . is a folder; give a store",
    "resume study.db": "culmen: there is no store study.db; `culmen run study.toml` makes one",
    "optimizers cmase": "culmen: there is no optimizer 'cmase' (did you mean 'cmaes'?); known are KNOWN",
    "optimizers TPE": "culmen: there is no optimizer 'TPE' (here, this method is 'bayes'); known are KNOWN",
    "errors study.db --level 0.95": "culmen errors: there is no option '--level'; did you mean '--confidence'?",
    "errors study.db --minos": "culmen errors: there is no option '--minos'; did you mean '--profile'?",
    "export study.toml": "culmen: study.toml is a study file, not a store; `culmen run study.toml` runs it",
    "compare a.db": "culmen compare: B.db is missing; write `culmen compare A.db B.db`",
    "check study.toml --evaluate -1": "culmen check: --evaluate must be at least 0, got -1",
    "init k --kind pyton": "culmen init: --kind must be python, library or command, got pyton; did you mean 'python'?",
    "init k --kind C++": "culmen init: --kind must be python, library or command, got C++; write --kind library for a "
    "function in C, C++ or Fortran",
    "launch -np 3 run study.toml": "culmen launch: -n must be a whole number, got p; write -n instead of -np",
    "run study.tml": "culmen: there is no study file study.tml; did you mean 'study.toml'?",
    "init my-fit": "culmen: my-fit: the name must consist of letters, digits and _, such as fit, got 'my-fit'",
    "init nowhere/fit": "culmen: nowhere/fit: there is no folder nowhere; make it with `mkdir -p nowhere`",
    "simulate study.toml": "culmen simulate: --workers is missing; write `culmen simulate STUDY.toml --workers N`",
    "worker tcp://a:1": "culmen worker: --study is missing; write `culmen worker ADDRESS --study STUDY.toml`",
    "tune hpl --minuts 3 --dry-run": "culmen tune hpl: there is no option '--minuts'; did you mean '--minutes'?",
    "tune hpl --mpi mpich --dry-run": "culmen tune hpl: there is no option '--mpi'; did you mean '--mpis'?",
    "tune hpl 3 --dry-run": "culmen tune hpl: unexpected '3'; write words for mpiexec after --",
    "tune placement --runz 3 -- ./app": "culmen tune placement: there is no option '--runz'; did you mean '--runs'?",
    "tune io --patern collective": "culmen tune io: there is no option '--patern'; did you mean '--pattern'?",
    "iobuf --sise 4M -- ls": "culmen iobuf: there is no option '--sise'; did you mean '--size'?",
    "launch run study.toml": "culmen launch: -n is missing; write `culmen launch -n 4 run STUDY.toml`",
    "launch -n 1 run study.toml": "culmen launch: -n must be at least 2, got 1",
    "launch -n 4": "culmen: give a command to launch, for example `culmen launch -n 4 run STUDY.toml`",
    "launch -n 4 model.py": "culmen: 'model.py' is not a program; write `culmen launch -n 4 python model.py`",
}


@pytest.mark.parametrize("words", WORDS)
def test_wrong_words_on_the_command_line(folder, words):
    done = typed(*words.split(), cwd=folder)
    known = ", ".join(culmen._core.optimizer_names())
    assert (done.returncode, done.stderr) == (2, WORDS[words].replace("KNOWN", known) + "\n")
    assert sorted(path.name for path in folder.iterdir()) == ["model.py", "study.toml"]
