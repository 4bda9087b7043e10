"""What the compiled module offers to the package; users go through ``culmen`` itself."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

__version__: str
build: str  # version and compiler

class CulmenError(RuntimeError): ...
class InputError(CulmenError): ...
class StoreError(CulmenError): ...
class TransportError(CulmenError): ...

Value: TypeAlias = bool | int | float | str

class Parameter:
    name: str
    kind: str  # "real", "integer", "ordinal", "categorical", "boolean"
    scale: str  # "linear", "log"
    lower: float  # of a choice: of its index
    upper: float
    choices: list[Value]
    initial: Value | None
    active_when: str  # "": always

def real(name: str, lower: float, upper: float, scale: str = "linear") -> Parameter: ...
def integer(name: str, lower: float, upper: float, scale: str = "linear") -> Parameter: ...
def ordinal(name: str, choices: Sequence[float | str]) -> Parameter: ...
def categorical(name: str, choices: Sequence[float | str]) -> Parameter: ...
def boolean(name: str) -> Parameter: ...

class Space:
    def __init__(self, parameters: Sequence[Parameter], constraints: Sequence[tuple[str, str]] = ...) -> None: ...
    @property
    def constraints(self) -> list[tuple[str, str]]: ...  # name, expression
    @property
    def conditional(self) -> bool: ...
    def start(self) -> list[float]: ...  # initial values, or the middle
    def has_start(self) -> bool: ...
    def activity(self, vector: Sequence[float]) -> list[bool]: ...
    def violation(self, vector: Sequence[float]) -> float: ...
    def from_unit(self, unit: Sequence[float]) -> list[float]: ...
    def to_unit(self, vector: Sequence[float]) -> list[float]: ...
    def value(self, i: int, x: float) -> Value: ...
    @property
    def parameters(self) -> list[Parameter]: ...
    def __len__(self) -> int: ...
    def named(self, vector: Sequence[float]) -> dict[str, Value]: ...  # of the active parameters
    def vector_of(self, values: Mapping[str, Value]) -> list[float]: ...
    def at_bound(self, i: int, value: float) -> bool: ...

class EvaluatorSpec:
    def __init__(self) -> None: ...
    kind: str  # "function", "python", "library", "command", "items"; another kind begins with empty fields
    isolation: str  # "process", "none"
    result: str  # "value", "residuals", "figures"
    time_limit_s: float
    base_folder: str
    working_folder: str
    environment: dict[str, str]
    modules: list[str]
    output: str  # "all", "failures", "none"
    # Fields of some kinds; AttributeError for the others.
    target: str  # python, library
    pickle: bytes  # python, items
    interpreter: str  # python, items
    batch: int  # python
    command: list[str]  # command, as all that follows
    keep: str  # "all", "failures", "none"
    json_stdin: bool
    def add_template(self, name: str, text: bytes) -> None: ...
    def add_input(self, path: str, name: str, link: bool) -> None: ...
    def add_figure(self, name: str, file: str, reading: str, pattern: str, first: bool) -> None: ...

def check_command(space: Space, spec: EvaluatorSpec) -> None: ...
def file_left_behind(spec: EvaluatorSpec) -> str: ...

class StudyConfig:
    def __init__(self) -> None: ...
    def __copy__(self) -> StudyConfig: ...
    name: str
    space: Space
    objectives: list[tuple[str, str]]  # name, "minimize" or "maximize"
    limits: list[tuple[str, float, float]]  # name of a figure, lower, upper
    starts: list[list[float]]  # evaluated first
    evaluate_infeasible: bool
    evaluator: EvaluatorSpec
    optimizer: str  # "": choose_optimizer decides
    @property
    def optimizer_why(self) -> str: ...  # where that decided
    optimizer_options: dict[str, bool | float | str]
    generational: bool | None  # None: settle_mode decides
    seed: int
    evaluations: int  # 0: no limit
    target: float  # -inf: none
    wall_time_s: float  # inf: none
    stagnation: int  # evaluations without an improvement; 0: no limit
    stagnation_tolerance: float  # share of the whole improvement
    on_failure: str  # "penalise", "retry", "stop"
    retries: int
    give_up_after: int  # 0: never
    configuration: str  # the study file, normalised to JSON; kept in the store
    evaluator_identity: str  # what the fingerprint takes for the evaluator
    fingerprint: str  # as fingerprint_of gives it; a store with another one is refused

def fingerprint_of(config: StudyConfig) -> str: ...
def choose_optimizer(config: StudyConfig) -> None: ...  # sets the optimizer where it is empty or "auto"
def settle_mode(config: StudyConfig, options: RunOptions, begun: str = "") -> None: ...  # begun: a store's fingerprint
def begins_at_start(config: StudyConfig) -> bool: ...  # its first candidate, or what is in the middle
def check_optimizer(config: StudyConfig) -> None: ...  # raises for one that there is not, or that cannot work on this
def describe_reason(word: str) -> str: ...  # a Result's or a finished store's, for people

STOP_SIGNALS: tuple[int, ...]  # what ends a study cleanly

class RunOptions:
    def __init__(self) -> None: ...
    workers: int  # 0: one per usable CPU; under MPI: the ranks decide
    place: str  # "auto", "threads", "processes", "mpi"
    lent: LentWorkers | None  # they evaluate, wherever this process is
    prefetch: bool
    store: str  # "": no journal
    resume: bool  # go on with the store instead of making it
    durability: str  # "process", "power"

class Progress:
    phase: str  # "starting", "replaying", "running", "stopping", "done"
    evaluations: int
    evaluations_here: int  # since this start of the master
    budget: int  # 0: none
    best_value: float | None
    busy: int
    workers: int
    failed: int
    retried: int
    lost: int
    elapsed_s: float

class Result:
    # "evaluations", "target", "exhausted", "wall_time", "interrupted", "failure", "all_failed", "set_up", "error"
    reason: str
    final: bool  # False: can be resumed
    message: str  # one sentence
    evaluations: int
    failed: int
    retried: int
    lost: int
    best: list[float] | None  # in the space's order
    best_value: float | None
    best_evaluation: int
    violation: float  # of the best
    objectives: list[str]
    values: list[float]  # of several objectives, as given
    front: list[tuple[int, list[float], list[float]]]  # evaluation, vector, values as given
    residuals: list[float]
    extras: dict[str, float]
    optimizer: str
    optimizer_why: str  # where it was chosen for the user
    generational: bool
    evaluated_s: float  # what the evaluations of this start took, together
    remark: str  # of the optimizer on its search; may be empty
    recommended: tuple[list[float], float, float, int] | None  # vector, mean as given, its error, evaluations
    first_failure: str  # one sentence on the first evaluation that failed; "": none did
    wall_s: float
    workers: int
    store: str

class Run:
    """One start of a master, on a C++ thread. Use from one Python thread."""

    def __init__(self, config: StudyConfig, options: RunOptions) -> None: ...
    def start(self) -> None: ...  # raises what is wrong with the input
    def wait(self, timeout_s: float) -> bool: ...  # True when done; the GIL is released
    def stop(self) -> None: ...  # ask for a clean end (reason "interrupted"); at once, any thread
    def progress(self) -> Progress: ...
    def result(self) -> Result: ...  # after wait() said True; raises what run raised

class LentWorkers:
    """Evaluations handed to the program: take by one thread, the rest by any."""

    def __init__(self, workers: int) -> None: ...
    # (ticket, vector in the space's order); [] after timeout_s or when the study has ended
    def take(self, timeout_s: float) -> list[tuple[int, list[float]]]: ...
    def give(self, ticket: int, outcome: bytes, duration_s: float) -> None: ...  # as slot.protocol encodes it
    def fail(self, sentence: str) -> None: ...  # nothing more can be evaluated
    def end(self) -> None: ...  # take sleeps no more
    @property
    def ended(self) -> bool: ...

class PointsRun:
    """The engine for candidates that a program names. All but take and result: any thread."""

    def __init__(self, config: StudyConfig, options: RunOptions) -> None: ...
    def start(self) -> None: ...  # raises what is wrong with the input
    def submit(self, vectors: Sequence[Sequence[float]]) -> None: ...  # numbered from 0 on over the run's life
    def close(self) -> None: ...  # nothing more is submitted; the run ends when all is done
    # what has finished, in order of arrival: number, status, value (to be minimized), values, violation, residuals,
    # extras, message, duration_s. [] after timeout_s or when the engine has ended
    def take(self, timeout_s: float) -> list[dict[str, Any]]: ...
    @property
    def ended(self) -> bool: ...
    @property
    def message(self) -> str: ...  # once ended: why
    def stop(self) -> None: ...
    def wait(self, timeout_s: float) -> bool: ...
    def result(self, note: str = "") -> Result: ...  # as Run's; the note is its message, in every rank

class ItemFunction:
    """A pickled function that an ExecutorRun knows."""

class ExecutorRun:
    """The engine for an Executor's items. submit, cancel, cancel_all, close, stop: any thread; take: one at a time."""

    def __init__(self, config: StudyConfig, options: RunOptions) -> None: ...
    def start(self) -> None: ...  # raises what is wrong with the input
    def make_function(self, pickle: bytes) -> ItemFunction: ...
    # numbers: each once, lesser ones go first. Raises InputError for what is too large, or after close
    def submit(self, numbers: Sequence[int], function: ItemFunction, arguments: Sequence[bytes]) -> None: ...
    def holds(self, number: int) -> bool: ...  # it was not sent yet
    def cancel(self, number: int) -> bool: ...  # False: it was sent already
    def cancel_all(self) -> list[int]: ...
    def close(self) -> None: ...  # nothing more is submitted; the run ends when all is done
    # (number, status, message, payload) of what has finished; [] after timeout_s or when the engine has ended
    def take(self, timeout_s: float) -> list[tuple[int, str, str, bytes]]: ...
    @property
    def ended(self) -> bool: ...
    @property
    def message(self) -> str: ...  # once ended: why
    def stop(self) -> None: ...
    def wait(self, timeout_s: float) -> bool: ...
    def result(self, note: str = "") -> Result: ...  # as Run's

class Launch:
    kind: str  # "none", "openmpi", "mpich", "slurm"
    rank: int
    size: int
    @property
    def is_rank(self) -> bool: ...

def detect_launch() -> Launch: ...
def mpi_library() -> str: ...  # "Open MPI v4.1.4"; empty outside a launch
def serve_rank() -> Result:
    """In a rank other than 0: works until the master ends, then returns the master's result.

    Raises what the master could not start for.
    """

def serve_until_dismissed() -> None: ...  # in a rank other than 0: works for every study and executor of rank 0
def dismiss_with_result() -> None: ...  # in rank 0: the ranks leave with the result of the next study
def dismiss_ranks() -> None: ...  # in rank 0: the ranks that serve until then leave. Harmless when none waits
def expect_ranks() -> None: ...  # in rank 0, before anything that may end in abandon_ranks
def abandon_ranks(message: str) -> None:
    """In rank 0, when nothing can be run: lets the other ranks go. Harmless when no rank waits."""

def finalize_mpi(exit_code: int = 0) -> None:
    """Ends MPI; where a rank hangs in an evaluation, leaves the process at once with exit_code."""

STATUSES: list[str]

class Store:
    """A study file opened for reading, also while a master writes."""

    @staticmethod
    def read(path: str) -> Store: ...
    # A text beside the study, no part of it; replaces the former of that name. Not while a master has the store
    @staticmethod
    def keep_note(path: str, name: str, text: str) -> None: ...
    def note(self, name: str) -> str: ...  # "": none
    @property
    def name(self) -> str: ...
    @property
    def configuration(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def created_s(self) -> float: ...
    @property
    def build(self) -> str: ...  # of the culmen that made it
    # asked, outcomes, told, failed, epoch, finished, owned, owner, last_outcome_s, best_value, best, best_evaluation;
    # failures: for each status of a failure {"status": str, "count": int, "first": int (the least evaluation),
    # "message": str (of that one)}, the most frequent first. Quick at any size.
    def summary(self) -> dict[str, object]: ...
    def outcomes(self, first: int = 0, count: int = 1000) -> list[dict[str, Any]]: ...
    # NumPy arrays with one entry for each evaluation that was asked, in the order of asking: evaluation, x (a row
    # each), status (of STATUSES; -1: no outcome), value, values (a row each; no columns where none has several),
    # violation, at_s, duration_s, worker, epoch, attempt, told (place in the order of telling; -1: was not told),
    # cancelled (0, 1), residuals (how many); extras (a dict of arrays), extras_left_out. NaN, or -1: there is none.
    def columns(self) -> dict[str, Any]: ...
    def starts(self) -> list[dict[str, Any]]: ...  # of a master: epoch, started_s, host, pid, build
    # Every optimizer call in order: the whole log, for tests and tools.
    def calls(self) -> list[dict[str, object]]: ...

class Optimizer:
    def __init__(
        self,
        space: Space,
        name: str = "",  # what suits
        seed: int = 1,
        options: dict[str, bool | float | str] = {},
        starts: Sequence[Sequence[float]] = (),
        residuals: bool = False,  # whether these will be told
        objectives: int = 1,
        evaluations: int = 0,  # that there will be; 0: not known
        generational: bool = True,
        limits: Sequence[tuple[str, float, float]] = (),  # name, lower, upper
    ) -> None: ...
    def ask(self, n: int = 1) -> list[tuple[int, list[float]]]: ...
    # Told: the value, those of several objectives, residuals; None: the evaluation failed.
    def tell(
        self,
        evaluation: int,
        told: float | Sequence[float] | None,
        residuals: bool = False,
        duration_s: float = 0.0,
        figures: Mapping[str, float] = {},  # further ones; among them those of the limits
        limits: Sequence[tuple[str, float, float]] = (),  # as they were given before
    ) -> None: ...
    def resize(self, workers: int) -> None: ...
    def cancel(self, evaluation: int) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def remark(self) -> str: ...  # a clause on its search so far; may be empty
    @property
    def generational(self) -> bool: ...
    @property
    def recommended(self) -> tuple[list[float], float, float, int] | None: ...  # vector, mean, its error, evaluations
    @property
    def finished(self) -> bool: ...

def optimizer_choices() -> list[tuple[str, str]]: ...  # what auto can be, and for what; the first that suits
def optimizer_names() -> list[str]: ...

# name, about, needs_residuals, needs_reals, needs_order, one_objective, two_objectives (at most), asynchronous;
# options: a list of {name, about, type ("number", "whole number", "word", "flag"), lowest and highest or words,
# default (in words where it is no constant)}.
def optimizer_catalogue() -> list[dict[str, Any]]: ...
def find_executable() -> str: ...
