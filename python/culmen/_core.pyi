"""The compiled module, for the package alone; users import culmen. Written by tools/write_stub."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy
from numpy.typing import NDArray

__version__: str

build: str
"""Version and compiler."""

def find_executable() -> str: ...

class CulmenError(RuntimeError): ...
class InputError(CulmenError): ...
class StoreError(CulmenError): ...
class TransportError(CulmenError): ...

class Parameter:
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str:
        """One of "real", "integer", "ordinal", "categorical", "boolean"."""

    @property
    def scale(self) -> str:
        """One of "linear", "log"."""

    @property
    def lower(self) -> float:
        """The lower bound; with choices the lowest index, 0."""

    @property
    def upper(self) -> float:
        """The upper bound; with choices the highest index."""

    @property
    def choices(self) -> list[bool | int | float | str | None]: ...
    @property
    def initial(self) -> bool | int | float | str | None | None: ...
    @initial.setter
    def initial(self, value: bool | int | float | str | None) -> None: ...
    @property
    def fixed(self) -> bool | int | float | str | None | None:
        """Its only value; None: it varies."""

    @fixed.setter
    def fixed(self, value: bool | int | float | str | None) -> None: ...
    @property
    def active_when(self) -> str:
        """An expression over other parameters; empty: always active."""

    @active_when.setter
    def active_when(self, arg: str, /) -> None: ...
    def __eq__(self, arg: object, /) -> bool: ...

def real(name: str, lower: float, upper: float, scale: str = "linear") -> Parameter: ...
def integer(name: str, lower: float, upper: float, scale: str = "linear") -> Parameter: ...
def ordinal(name: str, choices: Sequence[float | str | int | bool | None]) -> Parameter: ...
def categorical(name: str, choices: Sequence[float | str | int | bool | None]) -> Parameter: ...
def boolean(name: str) -> Parameter: ...

class Space:
    def __init__(self, parameters: Sequence[Parameter], constraints: Sequence[tuple[str, str]] = []) -> None: ...
    @property
    def constraints(self) -> list[tuple[str, str]]:
        """Their names and expressions."""

    @property
    def conditional(self) -> bool:
        """Whether some parameters are not always active."""

    def start(self) -> list[float]:
        """The initial values; without one, the middle of the range."""

    def has_start(self) -> bool:
        """Whether any parameter has an initial value."""

    def activity(self, vector: Sequence[float]) -> list[bool]:
        """Whether each parameter is active."""

    def violation(self, vector: Sequence[float]) -> float:
        """
        The amount by which the vector violates the constraints; 0: no violation.
        """

    def from_unit(self, unit: Sequence[float]) -> list[float]:
        """The vector of numbers between 0 and 1."""

    def to_unit(self, vector: Sequence[float]) -> list[float]:
        """The vector with each number scaled to the range from 0 to 1."""

    def value(self, i: int, x: float) -> bool | int | float | str | None:
        """
        The value of parameter number i that the number x of a vector stands for.
        """

    @property
    def parameters(self) -> list[Parameter]:
        """Those that vary: each has a number in a vector."""

    @property
    def all(self) -> list[Parameter]:
        """All parameters as they were given."""

    def spread(self, vector: Sequence[float]) -> list[float]:
        """The vector with the numbers of fixed parameters, too."""

    def searched(self, whole: Sequence[float]) -> list[float]:
        """The reverse of spread. Raises InputError."""

    def __len__(self) -> int:
        """The number of parameters that vary."""

    def named(self, vector: Sequence[float]) -> dict[str, bool | int | float | str | None]:
        """The values of the active parameters by their names."""

    def vector_of(self, values: dict[str, bool | int | float | str | None]) -> list[float]:
        """The vector of values by names. Raises InputError."""

    def at_bound(self, i: int, value: float) -> bool:
        """Whether a value of parameter number i is at a bound."""

    def __eq__(self, arg: object, /) -> bool: ...

class Optimizer:
    def __init__(
        self,
        space: Space,
        name: str = "",
        seed: int = 1,
        options: Mapping[str, bool | float | str] = {},
        starts: Sequence[Sequence[float]] = [],
        residuals: bool = False,
        objectives: int = 1,
        evaluations: int = 0,
        generational: bool = True,
        limits: Sequence[tuple[str, float, float]] = [],
    ) -> None:
        """
        name: if empty, the space and the objectives decide. residuals: whether residuals will be told. evaluations: the budget; 0: not known. limits: name, lower and upper of each.
        """

    def ask(self, n: int = 1) -> list[tuple[int, list[float]]]:
        """At most n candidates: the number of the evaluation, and the vector."""

    def tell(
        self,
        evaluation: int,
        told: float | Sequence[float] | None,
        residuals: bool = False,
        duration_s: float = 0.0,
        figures: Mapping[str, float] = {},
        limits: Sequence[tuple[str, float, float]] = [],
    ) -> None:
        """
        told: the value, the values of several objectives, or residuals; None: the evaluation failed. figures: extra values, including those of the limits. limits: the same as for the optimizer.
        """

    def resize(self, workers: int) -> None: ...
    def cancel(self, evaluation: int) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def remark(self) -> str:
        """A clause about the search so far; may be empty."""

    @property
    def generational(self) -> bool: ...
    @property
    def recommended(self) -> tuple[list[float], float, float, int] | None:
        """
        The vector, its mean value, the error of the mean, and the number of evaluations.
        """

    @property
    def finished(self) -> bool: ...

def optimizer_choices() -> list[tuple[str, str]]:
    """
    The optimizers that auto chooses from, each with its case. The first case that fits applies.
    """

def optimizer_names() -> list[str]: ...
def unknown_optimizer(name: str) -> str: ...
def optimizer_catalogue() -> list[dict[str, Any]]:
    """
    One dict for each optimizer: name, about, needs_residuals, needs_reals, needs_order, needs_bounds, one_objective, two_objectives (at most), asynchronous and options.

    An option is a dict: name, about, type ("number", "whole number", "word" or "flag"), lowest and highest or words, and default. The default is a sentence if it is not a constant.
    """

class Store:
    """
    A study's store, opened for reading. A master may write it at the same time.
    """

    @staticmethod
    def read(path: str) -> Store: ...
    @staticmethod
    def keep_note(path: str, name: str, text: str) -> None:
        """
        Keeps a text beside the study; an earlier text of this name is replaced.

        Raises StoreError while a master has the store.
        """

    @staticmethod
    def copy(from_path: str, to_path: str) -> None:
        """Copies a store to a new file, also while a master has it."""

    @staticmethod
    def rescue(from_path: str, to_path: str) -> tuple[int, int | None, int, bool]:
        """
        Makes a new store from the readable part of a damaged one. Returns the number of evaluations in the new store, the number of lost ones (None: unknown), how many of the saved ones lie behind the damage, and whether the study has ended.

        Raises StoreError if nothing can be read.
        """

    @property
    def log_is_missing(self) -> bool:
        """
        The file is a copy of a store that was in use, without its write-ahead log.
        """

    def note(self, name: str) -> str:
        """The text that keep_note() kept; empty if there is none."""

    @property
    def name(self) -> str: ...
    @property
    def configuration(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def created_s(self) -> float: ...
    def summary(self) -> dict[str, Any]:
        """
        The state of the study. It is quick for a store of any size.

        Keys: asked, outcomes, told, failed, epoch, finished, owned, owner, last_outcome_s, recommended, best_value, running (evaluation, worker and start in seconds since 1970 of the evaluation that has run longest), best, best_evaluation and failures. failures has one dict for each status of a failure, the most frequent first: status, count, first (the lowest evaluation) and message (of that evaluation).
        """

    def outcomes(self, first: int = 0, count: int = 1000) -> list[dict[str, Any]]:
        """The outcomes of evaluations from number `first`, one dict each."""

    def calls(self) -> list[dict[str, Any]]:
        """All calls of the optimizer in their order, for tests and tools."""

    def columns(self) -> dict[str, Any]:
        """
        The store as NumPy arrays. Each has one entry for each evaluation, in the order of asking.

        Keys: evaluation, x (a row each), status (an index of STATUSES; -1: no outcome), value, values (a row each; no columns unless there are several objectives), violation, at_s, duration_s, worker, epoch, attempt, told (position in the order of telling; -1: not told), cancelled (0 or 1), residuals (their number), extras (a dict of arrays) and extras_left_out. NaN or -1 means that there is no entry.
        """

    def starts(self) -> list[dict[str, Any]]:
        """
        The starts of a master, one dict each: epoch, started_s, host, pid and build.
        """

    @property
    def build(self) -> str:
        """The build of culmen that made the store."""

class History:
    """The latest evaluations of a run, in memory."""

    def told(self, first: int, count: int) -> list[dict[str, Any]]:
        """
        Evaluations in the order of telling, from number `first`, one dict each.
        """

    @property
    def count(self) -> int:
        """The number of evaluations, with the dropped ones."""

    @property
    def dropped(self) -> int:
        """The number of those that are not kept."""

    def columns(self) -> dict[str, Any]:
        """As Store.columns()."""

STATUSES: list[str]
"""The status for each code in Store.columns()["status"]."""

def files_of_store(path: str) -> list[str]:
    """
    The file of a store, its log and its index; not all of them need to exist.
    """

def how_to_rescue(path: str) -> str:
    """For a sentence about a damaged store: what to write."""

class Pickle:
    """A pickled function."""

    def __init__(self, content: bytes, descriptor: int | None = None) -> None:
        """
        descriptor: of a file that the content names. It stays open as long as an evaluator may need it.
        """

    def __len__(self) -> int: ...

class EvaluatorSpec:
    def __init__(self) -> None: ...
    @property
    def kind(self) -> str:
        """One of "function", "python", "library", "command", "items"."""

    @kind.setter
    def kind(self, arg: str, /) -> None: ...
    @property
    def base_folder(self) -> str: ...
    @base_folder.setter
    def base_folder(self, arg: str, /) -> None: ...
    @property
    def working_folder(self) -> str: ...
    @working_folder.setter
    def working_folder(self, arg: str, /) -> None: ...
    @property
    def pickle(self) -> Pickle: ...
    @pickle.setter
    def pickle(self, arg: Pickle, /) -> None: ...
    @property
    def target(self) -> str: ...
    @target.setter
    def target(self, arg: str, /) -> None: ...
    @property
    def interpreter(self) -> str: ...
    @interpreter.setter
    def interpreter(self, arg: str, /) -> None: ...
    @property
    def command(self) -> list[str]: ...
    @command.setter
    def command(self, arg: Sequence[str], /) -> None: ...
    @property
    def json_stdin(self) -> bool: ...
    @json_stdin.setter
    def json_stdin(self, arg: bool, /) -> None: ...
    @property
    def isolation(self) -> str:
        """One of "none", "process"."""

    @isolation.setter
    def isolation(self, arg: str, /) -> None: ...
    @property
    def result(self) -> str:
        """One of "value", "residuals", "figures"."""

    @result.setter
    def result(self, arg: str, /) -> None: ...
    @property
    def time_limit_s(self) -> float: ...
    @time_limit_s.setter
    def time_limit_s(self, arg: float, /) -> None: ...
    @property
    def environment(self) -> dict[str, str | None]: ...
    @environment.setter
    def environment(self, arg: Mapping[str, str | None], /) -> None: ...
    @property
    def modules(self) -> list[str]: ...
    @modules.setter
    def modules(self, arg: Sequence[str], /) -> None: ...
    @property
    def output(self) -> str:
        """One of "all", "failures", "none"."""

    @output.setter
    def output(self, arg: str, /) -> None: ...
    @property
    def batch(self) -> int: ...
    @batch.setter
    def batch(self, arg: int, /) -> None: ...
    @property
    def keep(self) -> str:
        """One of "all", "failures", "none"."""

    @keep.setter
    def keep(self, arg: str, /) -> None: ...
    def add_template(self, name: str, text: bytes) -> None: ...
    def add_input(self, path: str, name: str, link: bool) -> None: ...
    def add_figure(self, name: str, file: str, reading: str, pattern: str, first: bool) -> None: ...

def file_left_behind(spec: EvaluatorSpec) -> str: ...
def check_command(space: Space, spec: EvaluatorSpec) -> None: ...

class Loss:
    """How residuals become the value."""

    def value(self, residuals: Sequence[float]) -> float: ...
    def weights(self, residuals: Sequence[float]) -> tuple[list[float], list[float]]:
        """
        Slopes and curvatures: the value's derivative by a residual r is 2 slope r, its second one 2 curvature.
        """

    @property
    def loss(self) -> str:
        """One of "linear", "soft_l1", "huber", "cauchy", "arctan"."""

    @loss.setter
    def loss(self, arg: str, /) -> None: ...
    @property
    def f_scale(self) -> float: ...
    @f_scale.setter
    def f_scale(self, arg: float, /) -> None: ...

class StudyConfig:
    """
    The description of a study. In generational mode, equal descriptions give the same candidates.
    """

    def __init__(self) -> None: ...
    def __copy__(self) -> StudyConfig: ...
    @property
    def space(self) -> Space: ...
    @space.setter
    def space(self, arg: Space, /) -> None: ...
    @property
    def objectives(self) -> list[tuple[str, str]]:
        """Names, and "minimize" or "maximize"."""

    @objectives.setter
    def objectives(self, arg: Sequence[tuple[str, str]], /) -> None: ...
    @property
    def limits(self) -> list[tuple[str, float, float]]:
        """Name, lower and upper bound of each limited value."""

    @limits.setter
    def limits(self, arg: Sequence[tuple[str, float, float]], /) -> None: ...
    @property
    def derived(self) -> list[tuple[str, str]]:
        """Names and expressions of derived values; set the space before."""

    @derived.setter
    def derived(self, arg: Sequence[tuple[str, str]], /) -> None: ...
    @property
    def conditions(self) -> list[tuple[str, str]]:
        """Limits that are expressions; set the space before."""

    @conditions.setter
    def conditions(self, arg: Sequence[tuple[str, str]], /) -> None: ...
    @property
    def needed_figures(self) -> list[tuple[str, str]]:
        """Names of expressions, each with a name of a value that it needs."""

    @property
    def residual_names(self) -> list[str]:
        """Names of values that are the residuals."""

    @residual_names.setter
    def residual_names(self, arg: Sequence[str], /) -> None: ...
    @property
    def returns_residuals(self) -> bool: ...
    @property
    def loss_of_residuals(self) -> Loss:
        """`loss` and `f_scale`."""

    @property
    def starts(self) -> list[list[float]]:
        """Vectors that are evaluated first."""

    @starts.setter
    def starts(self, arg: Sequence[Sequence[float]], /) -> None: ...
    @property
    def evaluator(self) -> EvaluatorSpec: ...
    @evaluator.setter
    def evaluator(self, arg: EvaluatorSpec, /) -> None: ...
    @property
    def optimizer(self) -> str:
        """The name; if empty, choose_optimizer() decides."""

    @optimizer.setter
    def optimizer(self, arg: str, /) -> None: ...
    @property
    def optimizer_why(self) -> str:
        """Why choose_optimizer() chose the optimizer."""

    @property
    def optimizer_options(self) -> dict[str, bool | float | str]: ...
    @optimizer_options.setter
    def optimizer_options(self, arg: Mapping[str, bool | float | str], /) -> None: ...
    @property
    def generational(self) -> bool | None:
        """The mode; None: settle_mode() decides."""

    @generational.setter
    def generational(self, arg: bool | None, /) -> None: ...
    @property
    def mode_reason(self) -> str:
        """Why the study has this mode; empty before settle_mode() decides."""

    @property
    def configuration(self) -> str:
        """The study file as JSON; the store keeps it."""

    @configuration.setter
    def configuration(self, arg: str, /) -> None: ...
    @property
    def fingerprint(self) -> str:
        """The result of fingerprint_of()."""

    @fingerprint.setter
    def fingerprint(self, arg: str, /) -> None: ...
    @property
    def evaluator_identity(self) -> str:
        """The evaluator in the fingerprint."""

    @evaluator_identity.setter
    def evaluator_identity(self, arg: str, /) -> None: ...
    @property
    def name(self) -> str: ...
    @name.setter
    def name(self, arg: str, /) -> None: ...
    @property
    def seed(self) -> int: ...
    @seed.setter
    def seed(self, arg: int, /) -> None: ...
    @property
    def evaluate_infeasible(self) -> bool: ...
    @evaluate_infeasible.setter
    def evaluate_infeasible(self, arg: bool, /) -> None: ...
    @property
    def planned_evaluations(self) -> int | None: ...
    @planned_evaluations.setter
    def planned_evaluations(self, value: int | None) -> None: ...
    @property
    def evaluations(self) -> int: ...
    @evaluations.setter
    def evaluations(self, arg: int, /) -> None: ...
    @property
    def target(self) -> float: ...
    @target.setter
    def target(self, arg: float, /) -> None: ...
    @property
    def wall_time_s(self) -> float: ...
    @wall_time_s.setter
    def wall_time_s(self, arg: float, /) -> None: ...
    @property
    def stagnation(self) -> int: ...
    @stagnation.setter
    def stagnation(self, arg: int, /) -> None: ...
    @property
    def stagnation_tolerance(self) -> float: ...
    @stagnation_tolerance.setter
    def stagnation_tolerance(self, arg: float, /) -> None: ...
    @property
    def loss(self) -> str:
        """One of "linear", "soft_l1", "huber", "cauchy", "arctan"."""

    @loss.setter
    def loss(self, arg: str, /) -> None: ...
    @property
    def f_scale(self) -> float: ...
    @f_scale.setter
    def f_scale(self, arg: float, /) -> None: ...
    @property
    def on_failure(self) -> str:
        """One of "penalise", "retry", "stop"."""

    @on_failure.setter
    def on_failure(self, arg: str, /) -> None: ...
    @property
    def retries(self) -> int: ...
    @retries.setter
    def retries(self, arg: int, /) -> None: ...
    @property
    def give_up_after(self) -> int: ...
    @give_up_after.setter
    def give_up_after(self, arg: int, /) -> None: ...

def describe_reason(word: str) -> str:
    """Explains a word of Result.reason, or of a finished store."""

STOP_SIGNALS: tuple[int, ...]
"""Signals that end a study cleanly."""

def fingerprint_of(config: StudyConfig) -> str: ...
def choose_optimizer(config: StudyConfig) -> None:
    """Sets the optimizer if it is empty or "auto"."""

def settle_mode(config: StudyConfig, options: RunOptions, begun: str = "") -> None:
    """
    Sets `generational` if it is None. begun: the fingerprint of the study in the store.
    """

def begins_at_start(config: StudyConfig) -> bool:
    """
    Whether the first candidate is the start of the space. Without a start, that is its middle.
    """

def can_converge(config: StudyConfig) -> bool:
    """Whether the optimizer can end the study by a rule of its own."""

def check_optimizer(config: StudyConfig) -> None:
    """
    Raises InputError for an optimizer or an option that does not exist or cannot be used for this study.
    """

class Covariance:
    """Covariance of fitted parameters, which it numbers from 0."""

    @property
    def matrix(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="F")]:
        """NaN in the rows and columns of parameters without an error."""

    @property
    def rank(self) -> int: ...
    @property
    def undetermined(self) -> list[list[int]]:
        """For each direction without effect, its parameters."""

    @property
    def negative(self) -> list[list[int]]:
        """Of a Hessian: directions in which the value falls."""

    @property
    def fixed(self) -> list[int]:
        """Parameters that cannot move along the constraints."""

    @property
    def doubt(self) -> float:
        """Of a Hessian: the largest relative error that the errors may have."""

    def dof(self, residuals: int) -> int:
        """Degrees of freedom."""

def covariance_of_residuals(
    jacobian: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="F")],
    residuals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    loss: Loss,
    roughness: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    normals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="F")],
) -> Covariance:
    """For a rise of the value by 1."""

def covariance_of_value(
    hessian: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="F")],
    up: float,
    doubt: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="F")],
    normals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="F")],
) -> Covariance:
    """For a rise of the value by `up`."""

def sandwich(
    covariance: Covariance,
    jacobian: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="F")],
    residuals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    loss: Loss,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="F")]:
    """NaN without a robust loss, and without degrees of freedom."""

def stopping_bounds(
    at: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    span: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    sizes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C")],
    up: float,
) -> list[str]:
    """
    For each parameter: "lower" or "upper" if only this bound stops it, or an empty text.
    """

class RunOptions:
    """
    How one start runs; none of this changes the candidates in generational mode.
    """

    def __init__(self) -> None: ...
    @property
    def place(self) -> str:
        """One of "auto", "threads", "processes", "mpi"."""

    @place.setter
    def place(self, arg: str, /) -> None: ...
    @property
    def lent(self) -> LentWorkers | None:
        """The program's own workers."""

    @lent.setter
    def lent(self, arg: LentWorkers | None, /) -> None: ...
    @property
    def listen(self) -> str:
        """
        The address at which workers may join, such as tcp://0.0.0.0:7443; empty: none.
        """

    @listen.setter
    def listen(self, arg: str, /) -> None: ...
    @property
    def certificate(self) -> str:
        """
        The file with the certificate for wss, and its key. It is made if it does not exist.
        """

    @certificate.setter
    def certificate(self, arg: str, /) -> None: ...
    @property
    def token(self) -> str:
        """What a worker that joins must know."""

    @token.setter
    def token(self, arg: str, /) -> None: ...
    @property
    def content(self) -> str:
        """
        What the evaluator's files contain. A worker that joins must have the same.
        """

    @content.setter
    def content(self, arg: str, /) -> None: ...
    @property
    def io_threads(self) -> int:
        """
        Threads that read, decode, encrypt and write what travels to workers of other machines.
        """

    @io_threads.setter
    def io_threads(self, arg: int, /) -> None: ...
    @property
    def largest_message_mib(self) -> int:
        """
        The size of the largest message that a worker of another machine may send.
        """

    @largest_message_mib.setter
    def largest_message_mib(self, arg: int, /) -> None: ...
    @property
    def store(self) -> str:
        """The store's path; empty: none."""

    @store.setter
    def store(self, arg: str, /) -> None: ...
    @property
    def history_bytes(self) -> int:
        """Memory for Run.history; 0: none."""

    @history_bytes.setter
    def history_bytes(self, arg: int, /) -> None: ...
    @property
    def resume(self) -> bool:
        """Continue the study in the store instead of making the store."""

    @resume.setter
    def resume(self, arg: bool, /) -> None: ...
    @property
    def workers(self) -> int: ...
    @workers.setter
    def workers(self, arg: int, /) -> None: ...
    @property
    def team_size(self) -> int: ...
    @team_size.setter
    def team_size(self, arg: int, /) -> None: ...
    @property
    def team_placement(self) -> str:
        """One of "node", "any"."""

    @team_placement.setter
    def team_placement(self, arg: str, /) -> None: ...
    @property
    def prefetch(self) -> bool: ...
    @prefetch.setter
    def prefetch(self, arg: bool, /) -> None: ...
    @property
    def durability(self) -> str:
        """One of "process", "power"."""

    @durability.setter
    def durability(self, arg: str, /) -> None: ...

PLACES: tuple[str, ...]
"""The words of RunOptions.place."""

SCHEMES: tuple[str, ...]
"""The schemes of addresses at which workers may join."""

def is_encrypted(address: str) -> bool:
    """Whether what travels to and from a run at this address is encrypted."""

def is_loopback(address: str) -> bool:
    """Whether only programs of this machine reach this address."""

def reachable(address: str) -> str:
    """
    The address with this machine's name, if it stands for all addresses of the machine.
    """

def workers_of(options: RunOptions) -> int:
    """How many workers a run with these options has in this process."""

def uses_ranks(options: RunOptions) -> bool:
    """
    Whether the workers of a run with these options are the other ranks of this process's launch.
    """

THREAD_VARIABLES: list = ...

def thread_share(workers: int, evaluator: EvaluatorSpec) -> dict[str, str | None]:
    """
    Variables that give each worker its share of the CPUs for threads of libraries; empty if the user set one.
    """

def usable_cpus() -> int:
    """How many CPUs this process may run on."""

class NetworkWorkers:
    """The workers of this process for a master elsewhere."""

    def __init__(
        self,
        config: StudyConfig,
        address: str,
        fingerprint: str,
        token: str,
        content: str,
        slots: int,
        patience_s: float,
    ) -> None: ...
    def start(self) -> None:
        """Begins to join."""

    def wait_joined(self, timeout_s: float) -> bool:
        """
        Whether all workers have joined. Raises InputError if the master refuses one, TransportError if it is not reached.
        """

    def wait(self, timeout_s: float) -> bool:
        """Whether all workers have left."""

    def stop(self) -> None:
        """Leaves the study and ends the evaluations here."""

    @property
    def trouble(self) -> str:
        """Why they left before the end of the study; otherwise empty."""

    @property
    def evaluations(self) -> int:
        """The number of evaluations that ended here."""

class Progress:
    @property
    def phase(self) -> str:
        """ "starting", "replaying", "running", "stopping" or "done"."""

    @property
    def evaluations(self) -> int: ...
    @property
    def evaluations_here(self) -> int:
        """The evaluations since this start."""

    @property
    def budget(self) -> int:
        """0: no limit."""

    @property
    def best_value(self) -> float | None: ...
    @property
    def busy(self) -> int: ...
    @property
    def workers(self) -> int: ...
    @property
    def last_loss(self) -> str:
        """Why the last worker was lost; empty if none was."""

    @property
    def refused(self) -> int:
        """Workers of other machines that were not welcome."""

    @property
    def last_refusal(self) -> str:
        """Why the last of them was not; empty if none was."""

    @property
    def failed(self) -> int: ...
    @property
    def retried(self) -> int: ...
    @property
    def lost(self) -> int: ...
    @property
    def oldest(self) -> int | None:
        """The evaluation that has run longest. None: none has run for a second."""

    @property
    def oldest_for_s(self) -> float:
        """The seconds for which `oldest` has run."""

    @property
    def elapsed_s(self) -> float: ...

class Result:
    @property
    def reason(self) -> str:
        """
        One of "none", "evaluations", "target", "exhausted", "stagnation", "converged", "wall_time", "interrupted", "callback", "failure", "all_failed", "set_up", "error".
        """

    @property
    def final(self) -> bool:
        """False: the study can be resumed."""

    @property
    def message(self) -> str:
        """One sentence."""

    @property
    def evaluations(self) -> int: ...
    @property
    def failed(self) -> int: ...
    @property
    def retried(self) -> int: ...
    @property
    def lost(self) -> int: ...
    @property
    def best(self) -> list[float] | None:
        """The vector."""

    @property
    def best_evaluation(self) -> int: ...
    @property
    def best_value(self) -> float | None: ...
    @property
    def violation(self) -> float:
        """The violation of the best candidate."""

    @property
    def objectives(self) -> list[str]: ...
    @property
    def values(self) -> list[float]:
        """One value for each of several objectives; otherwise empty."""

    @property
    def front(self) -> list[tuple[int, list[float], list[float]]]:
        """Number of the evaluation, vector and values of each member."""

    @property
    def residuals(self) -> list[float]: ...
    @property
    def extras(self) -> dict[str, float]: ...
    @property
    def optimizer(self) -> str: ...
    @property
    def optimizer_why(self) -> str:
        """Why culmen chose the optimizer; empty: it did not."""

    @property
    def generational(self) -> bool: ...
    @property
    def evaluated_s(self) -> float:
        """Total duration of the evaluations of this start."""

    @property
    def served_s(self) -> float:
        """The seconds from the moment when the first worker was ready."""

    @property
    def present_s(self) -> float:
        """Total time for which workers were there and ready."""

    @property
    def remark(self) -> str:
        """The optimizer's remark on its search; may be empty."""

    @property
    def recommended(self) -> tuple[list[float], float, float, int] | None:
        """
        The vector, its mean value, the error of the mean, and the number of evaluations.
        """

    @property
    def first_failure(self) -> str:
        """One sentence about the first failed evaluation; empty: there was none."""

    @property
    def store_failed(self) -> bool:
        """The run broke because its store could not be read or written."""

    @property
    def wall_s(self) -> float: ...
    @property
    def workers(self) -> int: ...
    @property
    def team_size(self) -> int:
        """Ranks of each worker; 0: no teams."""

    @property
    def nodes(self) -> int:
        """Machines with workers that were there from the start."""

    @property
    def store(self) -> str: ...
    @property
    def history(self) -> History | None:
        """The latest evaluations, without a store."""

class Run:
    """One start of a master, on a C++ thread. Use it from one Python thread."""

    def __init__(self, config: StudyConfig, options: RunOptions) -> None: ...
    def start(self) -> None:
        """Raises InputError for wrong input."""

    def wait(self, timeout_s: float) -> bool:
        """Whether the run is done. Other Python threads run meanwhile."""

    def stop(self, why: str = "interrupted") -> None:
        """
        Asks for a clean end and returns at once; from any thread. `why` becomes the reason of the result.
        """

    @property
    def address(self) -> str:
        """Where workers may join, after start(); empty: nowhere."""

    @property
    def workers(self) -> int:
        """Those that are there from the start; after start()."""

    @property
    def nodes(self) -> int:
        """On how many machines these are."""

    @property
    def fingerprint(self) -> str:
        """Of the certificate there; empty without TLS."""

    def progress(self) -> Progress: ...
    @property
    def history(self) -> History | None:
        """It grows during the run."""

    def result(self) -> Result:
        """The result, after wait() was true. Raises the error of the run."""

class NetworkModel:
    """What messages and the store cost in a simulated cluster; seconds."""

    def __init__(self) -> None: ...
    @property
    def latency_s(self) -> float:
        """Of a message between nodes, one way."""

    @latency_s.setter
    def latency_s(self, arg: float, /) -> None: ...
    @property
    def bandwidth_bytes_s(self) -> float:
        """Of the master's line, each way."""

    @bandwidth_bytes_s.setter
    def bandwidth_bytes_s(self, arg: float, /) -> None: ...
    @property
    def message_s(self) -> float:
        """CPU time of one side for a message between nodes."""

    @message_s.setter
    def message_s(self, arg: float, /) -> None: ...
    @property
    def wake_s(self) -> float:
        """Of a frame inside a node, one way."""

    @wake_s.setter
    def wake_s(self, arg: float, /) -> None: ...
    @property
    def frame_s(self) -> float:
        """CPU time of one side for a frame inside a node."""

    @frame_s.setter
    def frame_s(self, arg: float, /) -> None: ...
    @property
    def row_s(self) -> float:
        """Of the store's thread, for each row."""

    @row_s.setter
    def row_s(self, arg: float, /) -> None: ...
    @property
    def commit_s(self) -> float:
        """Of the store's thread, for each commit."""

    @commit_s.setter
    def commit_s(self, arg: float, /) -> None: ...

def measured_network() -> NetworkModel:
    """Measures the model on this machine, in about half a second."""

class SimulationPlan:
    def __init__(self) -> None: ...
    @property
    def workers(self) -> int: ...
    @workers.setter
    def workers(self, arg: int, /) -> None: ...
    @property
    def workers_per_node(self) -> int: ...
    @workers_per_node.setter
    def workers_per_node(self, arg: int, /) -> None: ...
    @property
    def network(self) -> NetworkModel: ...
    @network.setter
    def network(self, arg: NetworkModel, /) -> None: ...
    @property
    def distribution(self) -> str:
        """One of "constant", "exponential", "lognormal", "measured"."""

    @distribution.setter
    def distribution(self, arg: str, /) -> None: ...
    @property
    def mean_s(self) -> float:
        """Mean duration of an evaluation."""

    @mean_s.setter
    def mean_s(self, arg: float, /) -> None: ...
    @property
    def spread(self) -> float:
        """
        For lognormal: standard deviation of the natural logarithm of the duration.
        """

    @spread.setter
    def spread(self, arg: float, /) -> None: ...
    @property
    def seed(self) -> int:
        """Of the durations."""

    @seed.setter
    def seed(self, arg: int, /) -> None: ...
    @property
    def measured_s(self) -> list[float]:
        """For measured: the duration of each evaluation; below 0: not known."""

    @measured_s.setter
    def measured_s(self, arg: Sequence[float], /) -> None: ...
    @property
    def function(self) -> str:
        """One of "sphere", "rosenbrock", "rastrigin"."""

    @function.setter
    def function(self, arg: str, /) -> None: ...
    @property
    def prefetch(self) -> bool: ...
    @prefetch.setter
    def prefetch(self, arg: bool, /) -> None: ...
    @property
    def master_s(self) -> float:
        """
        CPU time of the master for each frame that it receives; below 0: what the engine really takes.
        """

    @master_s.setter
    def master_s(self, arg: float, /) -> None: ...

class SimulationFigures:
    """The result of a simulated run; times are virtual."""

    @property
    def reason(self) -> str:
        """
        One of "none", "evaluations", "target", "exhausted", "stagnation", "converged", "wall_time", "interrupted", "callback", "failure", "all_failed", "set_up", "error".
        """

    @property
    def generational(self) -> bool: ...
    @property
    def evaluations(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def first_relays(self) -> int:
        """Those that talk to the master itself."""

    @property
    def wall_s(self) -> float: ...
    @property
    def utilisation(self) -> float:
        """Of the workers, over the whole run."""

    @property
    def steady_s(self) -> float:
        """
        From the moment when all workers have work to the sending of the last candidate.
        """

    @property
    def steady_utilisation(self) -> float: ...
    @property
    def steady_rate(self) -> float:
        """Evaluations per second."""

    @property
    def master_load(self) -> float:
        """Share of one core in the steady part."""

    @property
    def writer_load(self) -> float:
        """Share of one core."""

    @property
    def line_load(self) -> float:
        """Share of the bandwidth of the master's line."""

    @property
    def relay_load(self) -> float:
        """Of the busiest relay: share of one core."""

    @property
    def most_running(self) -> int:
        """Evaluations at the same time."""

    @property
    def frames_per_message(self) -> float:
        """Between nodes; 0: there was none."""

    @property
    def simulated_in_s(self) -> float:
        """CPU time of this simulation."""

class Simulation:
    """A simulated run, which starts at once, on a C++ thread."""

    def __init__(self, config: StudyConfig, plan: SimulationPlan) -> None: ...
    def wait(self, timeout_s: float) -> bool:
        """Whether it has ended."""

    def stop(self) -> None:
        """Ends it soon. From any thread."""

    @property
    def evaluations(self) -> int:
        """So far."""

    def figures(self) -> SimulationFigures:
        """
        Waits for the end. Only once. Raises CulmenError if the optimizer fails.
        """

class PointsRun:
    def __init__(self, config: StudyConfig, options: RunOptions) -> None: ...
    def start(self) -> None:
        """Raises InputError for wrong input."""

    def close(self) -> None:
        """Accepts no more; the run ends when everything is done."""

    def take(self, timeout_s: float) -> list[dict[str, Any]]:
        """
        The finished evaluations in the order of arrival. Empty after timeout_s, or when the engine has ended.
        """

    @property
    def message(self) -> str:
        """Why the run has ended."""

    @property
    def address(self) -> str:
        """As Run.address."""

    @property
    def fingerprint(self) -> str:
        """As Run.fingerprint."""

    @property
    def ended(self) -> bool: ...
    def stop(self) -> None: ...
    def wait(self, timeout_s: float) -> bool: ...
    def result(self, note: str = "") -> Result:
        """The same as Run.result(). The note becomes its message, in every rank."""

    def submit(self, vectors: Sequence[Sequence[float]]) -> None:
        """The candidates are numbered from 0 over the whole run."""

def further_config(config: StudyConfig) -> StudyConfig:
    """
    The study's configuration for further evaluations: no rule ends them, and they have their own working folder.
    """

def further_options(options: RunOptions) -> RunOptions:
    """
    The study's options for further evaluations: the same workers, but no store.
    """

def keep_visitors(options: RunOptions) -> None:
    """
    The workers of other machines that join a run with these options stay after its end, for further evaluations.
    """

def dismiss_visitors(options: RunOptions) -> None:
    """Tells the workers of other machines that stayed to leave."""

def remaining_workers(options: RunOptions) -> RunOptions:
    """
    The options with the workers that remain after a run: those of this machine, and those of other machines that stayed. Raises InputError if there are none.
    """

class LentWorkers:
    """
    Evaluations for the program's own workers. Only one thread may call take(); any thread may call the others.
    """

    def __init__(self, workers: int) -> None: ...
    def take(self, timeout_s: float) -> list[tuple[int, list[float]]]:
        """
        Tickets and vectors. Empty after timeout_s, or when the study has ended.
        """

    def give(self, ticket: int, outcome: bytes, duration_s: float) -> None:
        """outcome: as culmen.slot.protocol encodes it."""

    def fail(self, sentence: str) -> None:
        """
        The workers cannot evaluate any more; the sentence says why. The study stops.
        """

    def end(self) -> None:
        """No more is taken or given: take() returns at once."""

    @property
    def ended(self) -> bool: ...

class LargePayload:
    """The bytes of a large result."""

class ItemFunction:
    """A pickled function of an ExecutorRun."""

class ExecutorRun:
    def __init__(self, config: StudyConfig, options: RunOptions) -> None: ...
    def start(self) -> None:
        """Raises InputError for wrong input."""

    def close(self) -> None:
        """Accepts no more; the run ends when everything is done."""

    def take(self, timeout_s: float) -> list[tuple[int, str, str, object]]:
        """
        The finished evaluations in the order of arrival. Empty after timeout_s, or when the engine has ended.
        """

    @property
    def message(self) -> str:
        """Why the run has ended."""

    @property
    def address(self) -> str:
        """As Run.address."""

    @property
    def fingerprint(self) -> str:
        """As Run.fingerprint."""

    @property
    def ended(self) -> bool: ...
    def stop(self) -> None: ...
    def wait(self, timeout_s: float) -> bool: ...
    def result(self, note: str = "") -> Result:
        """The same as Run.result(). The note becomes its message, in every rank."""

    def make_function(self, pickle: Pickle) -> ItemFunction: ...
    def submit(self, numbers: Sequence[int], function: ItemFunction, arguments: Sequence[bytes]) -> None:
        """
        Each number is used once; lower ones go first. Raises InputError for too large items, and after close().
        """

    def holds(self, number: int) -> bool:
        """True if the item has not been sent to a worker."""

    def cancel(self, number: int) -> bool:
        """Returns False if the item has already been sent."""

    def cancel_all(self) -> list[int]: ...

class Launch:
    @property
    def kind(self) -> str:
        """One of "none", "openmpi", "mpich", "slurm"."""

    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def is_rank(self) -> bool: ...

def detect_launch() -> Launch: ...
def mpi_library() -> str:
    """Such as "Open MPI v4.1.4"; empty outside a launch."""

def serve_rank() -> Result:
    """
    In a rank other than 0: works until the master ends. Returns the master's result, or raises its error.
    """

def serve_until_dismissed() -> None:
    """In a rank other than 0: works for every study and executor of rank 0."""

def dismiss_with_result() -> None:
    """In rank 0: the ranks leave with the result of the next study."""

def dismiss_ranks() -> None:
    """
    In rank 0: the ranks that still serve leave. Does nothing if there are none.
    """

def expect_ranks() -> None:
    """In rank 0: call this before any code that may call abandon_ranks()."""

def abandon_ranks(message: str, kind: str) -> None:
    """
    In rank 0, if nothing can be run: the other ranks leave with this error. kind: 'input', 'store', 'transport' or 'other'. Does nothing if no rank waits.
    """

def a_rank_hangs() -> bool:
    """
    In rank 0: whether finalize_mpi() leaves a rank behind in its evaluation.
    """

def finalize_mpi(exit_code: int = 0) -> None:
    """
    Ends MPI. If a rank hangs in an evaluation, this process exits at once with exit_code.
    """

def exit_as_rank(exit_code: int) -> None:
    """
    After finalize_mpi(): if this process was a rank under MPICH, it ends here, with exit handlers. MPICH's launcher ends the other ranks if one leaves without them. Otherwise returns.
    """
