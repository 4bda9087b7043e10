"""``culmen.work``: a program evaluates for a run on another machine."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from .._core import InputError
from ..base.keywords import explained
from ..base.text import did_you_mean
from ..problem.command import Command
from ..problem.given import as_argument
from ..problem.parameter import Bounds
from ..problem.space import Space
from ..study_file import settings_of_program
from .program import ANSWERS, WORDS, callable_of, pickled, study_of

_OF_RESULTS = (
    *("result", "loss", "f_scale", "time_limit_s", "batch", "environment", "modules", "data"),
    *("constraints", "fix", "objectives", "limits", "derived", "residuals"),
)
_OF_RUN = (
    *("optimizer", "options", "starts", "store", "callback", "accept_changes"),
    *("certificate", "insecure", "io_threads", "largest_message_mib"),
)
_WORDS = {
    **WORDS,
    **dict.fromkeys(("patience", "timeout", "timeout_s", "wait", "wait_s"), "patience_s"),
    **dict.fromkeys(("n_jobs", "n_workers", "processes"), "slots"),
    **dict.fromkeys(("token", "password"), "token_file"),
}
_ENDLESS = {"budget": 1, "starts": []}  # the run decides on the end


@explained("culmen.work", 'culmen.work("wss://host:7443", f, {"x": (0, 1)}, token_file="token.txt")', _WORDS, ANSWERS)
def work(
    address: str,
    f: Callable[..., Any] | Command,
    space: Space | Mapping[str, Bounds] | Iterable[Bounds],
    *,
    token_file: str | Path | None = None,
    fingerprint: str | None = None,
    slots: int | None = None,
    patience_s: float = 60.0,
    progress: bool | None = None,
    **arguments: Any,
) -> int:
    """Evaluates candidates of a study that ``culmen.minimize`` runs on another machine, until this study ends.
    Example::

        culmen.work("wss://host:7443", f, {"x": (-5, 5)}, token_file="token.txt", fingerprint="…")

    The program on the other machine must have called ``culmen.minimize`` with ``listen``. That program prints the
    complete call of ``culmen.work``.

    This program evaluates its own ``f``. The run sends values of parameters, but no code. Therefore ``f``, ``space``
    and all other arguments of ``culmen.minimize`` that affect a result must be the same in both programs. If they
    differ, the run refuses these workers. The simplest way is to start the same script on both machines, with the same
    version of Python.

    - ``address``: the address of the run.
    - ``f``, ``space``: the same as in the run. culmen compares the code of ``f``, the values that ``f`` uses, and the
      name of the module that contains ``f``.
    - ``token_file``: a file with the token of the run.
    - ``fingerprint``: for ``wss``, the fingerprint of the run's certificate: 64 hexadecimal digits. Without
      ``fingerprint``, an authority that this machine trusts must have signed the certificate.
    - ``slots``: number of evaluations in parallel. Default: the number of CPUs.
    - ``patience_s``: number of seconds for which workers try to connect, at the start and after a lost connection.
    - ``progress``: True prints a message when the workers have joined. False prints no message. None prints the message
      only on a terminal or in a notebook.
    - ``arguments``: arguments of ``culmen.minimize``, such as ``objectives`` or ``result``. Arguments that do not
      affect a result, such as ``budget``, have no effect here.

    Returns the number of evaluations that this program has completed. Ctrl-C ends ``culmen.work``. The run then
    gives the current evaluations to other workers.

    Raises InputError for wrong arguments and if the run refuses these workers. Raises TransportError if the workers
    cannot connect to the run, or if they had to leave before the end of the study.
    """
    given = {**_for_workers(arguments), **_ENDLESS}
    checked_space = Space(space, given.pop("constraints", None)).fixing(given.pop("fix", None))
    study = study_of(f, checked_space, given, None, shared=True, caller="culmen.work")
    if not isinstance(f, Command):
        study.config.evaluator.pickle = pickled(callable_of(f, checked_space), False, True, "culmen.work")
    return study.work(
        address,
        token_file=token_file,
        fingerprint=fingerprint,
        slots=slots,
        patience_s=patience_s,
        progress=progress,
    )


def known_arguments() -> list[str]:
    """The arguments of ``culmen.minimize`` that are also allowed here."""
    return [*dict.fromkeys((*_OF_RESULTS, *(name for name, _, _ in settings_of_program()), *_OF_RUN))]


def _for_workers(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of ``minimize`` that affect an evaluation."""
    known = [*known_arguments(), "token_file", "fingerprint", "slots", "patience_s"]
    for name in arguments:
        if name in ("listen", "executor"):
            raise InputError(f"culmen.work: {name} belongs to culmen.minimize; remove it")
        if name not in known:
            near = did_you_mean(_WORDS.get(name, name), known)
            raise InputError(f"culmen.work: there is no argument '{name}'{near or '; help(culmen.work) lists them'}")
    return {name: as_argument(value) for name, value in arguments.items() if name in _OF_RESULTS}
