"""The HPL program of this machine: xhpl, or hpcc of HPC Challenge; its MPI, and the BLAS libraries that it can use."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..._core import InputError
from ...bench.parts import situations_here
from ...launch.allocation import tasks_on_nodes
from ...launch.launcher import cores, situations
from ...launch.mpi import Launcher, LauncherError, Words, find_launcher
from ...launch.mpi.linked import module_linked_by
from ...launch.programs import said_by

_NAMES = ("xhpl", "hpcc")
_BLAS = "libblas.so.3"
_LINKED = re.compile(rf"^\s*{re.escape(_BLAS)} => (\S+) \(", re.MULTILINE)
_TITLES = {"blas": "reference", "openblas-pthread": "openblas", "blis-pthread": "blis"}
ITS_OWN = "its own"  # a BLAS that culmen cannot exchange
DEFAULT = "default"  # the binding of the launcher, or of the user's words for it
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Program:
    """``blas``: the folders of the libraries that it can use, by name; ``present_blas``: the one that it uses now.
    ``words``: the user's words for the launcher, after culmen's own. ``bound``: words for the launcher that bind ranks,
    by bound_by(). ``compiler``, ``flags``: with these culmen built the program; empty if it did not."""

    path: str
    launcher: Launcher
    blas: dict[str, str]
    present_blas: str
    words: tuple[str, ...] = ()
    bound: Mapping[str, Sequence[str]] = field(default_factory=dict)
    compiler: str = ""
    flags: str = ""

    @property
    def is_hpcc(self) -> bool:
        """Whether this is hpcc, which reads hpccinf.txt, and runs other benchmarks, too."""
        return "hpcc" in Path(self.path).name

    def command(
        self, ranks: int, threads: int, blas: str, binding: str = DEFAULT, tcp_bytes: int = 0
    ) -> tuple[list[str], dict[str, str]]:  # fmt: skip
        """The words of a run, and environment variables for the launcher. ``tcp_bytes``: size of a socket's buffer; 0
        for the MPI's own choice."""
        known = self._situations(ranks_per_node(ranks))
        added = {name: value for each in known for name, value in each.environment.items()}
        flags = [flag for each in known for flag in each.flags]
        tcp = self.launcher.mpi.tcp
        variables = dict(tcp.variables) if tcp and tcp_bytes else {}
        program = [*self._variables(threads, blas, _filled(variables, tcp_bytes)), self.path]
        placed = self._placed(ranks_per_node(ranks), threads)
        if binding != DEFAULT:
            placed = list(self.bound[bound_by(binding, ranks_per_node(ranks), threads)])
        sockets = [word.format(bytes=tcp_bytes) for word in tcp.flags] if tcp and tcp_bytes else []
        return [self.launcher.program, *flags, *placed, *sockets, *self.words, "-n", str(ranks), *program], added

    def _situations(self, per_node: int) -> list[Words]:
        """Words of the user may name hosts. In an evaluator, variables that do so have other names."""
        if self._has_words_of_hosts():
            return situations(self.launcher, per_node, here=False)
        return situations_here(self.launcher, per_node)

    def _has_words_of_hosts(self) -> bool:
        words = self.launcher.mpi.placement
        return words is not None and self._is_placed_by({*words.hosts, *words.hostfiles})

    @property
    def is_placed_by_words(self) -> bool:
        words = self.launcher.mpi.placement
        return words is not None and self._is_placed_by({*words.replaced, *words.replaced_per_node})

    def _placed(self, per_node: int, threads: int) -> list[str]:
        """The words that put equally many ranks on each node, and that do not bind threads. Open MPI would bind all
        threads of a rank to one core. Empty if the user's words place the ranks."""
        words, several = self.launcher.mpi.placement, nodes() > 1
        if words is None or self.is_placed_by_words:
            return []
        chosen = words.per_node if several else []
        if threads > 1:
            chosen = [*words.bindings["none"], *(words.bound_per_node if several else [])]
        return [word.format(per_node=per_node, modifier="") for word in chosen]

    def _is_placed_by(self, options: set[str]) -> bool:
        given = [word.lstrip("-").partition("=")[0] for word in self.words if word.startswith("-")]
        return not options.isdisjoint(given)

    def _variables(self, threads: int, blas: str, more: Mapping[str, str]) -> list[str]:
        """Words that set variables with ``env``, because the variables of the launcher do not reach all ranks of all
        MPIs."""
        words = [
            "env",
            *(f"{name}={threads}" for name in _THREADS),
            *(f"{name}={value}" for name, value in more.items()),
        ]
        if folder := self.blas.get(blas):
            words.append("LD_LIBRARY_PATH=" + ":".join(filter(None, [folder, os.environ.get("LD_LIBRARY_PATH")])))
        return words


def bound_by(binding: str, per_node: int, threads: int) -> str:
    return f"{binding} {per_node}x{threads}"


def _filled(variables: Mapping[str, str], tcp_bytes: int) -> dict[str, str]:
    return {name: value.format(bytes=tcp_bytes) for name, value in variables.items()}


def input_name(is_hpcc: bool) -> str:
    return "hpccinf.txt" if is_hpcc else "HPL.dat"


def nodes() -> int:
    """The number of nodes in the allocation of a batch system; 1 without one."""
    return max(1, len(tasks_on_nodes()))


def ranks_per_node(ranks: int) -> int:
    return -(-ranks // nodes())


def all_cores() -> int:
    """The number of cores of all nodes, if they are like this one."""
    return cores() * nodes()


def find_program(given: Path | None, words: Sequence[str] = (), launcher: str | None = None) -> Program:
    """``launcher``: the name of its MPI, or the path of mpiexec; None for the MPI that the program links. Raises
    InputError if there is no such program, or no MPI for it."""
    path = _path_of(given)
    module = module_linked_by(path)
    try:
        found = find_launcher(launcher or module or None)
    except LauncherError as error:
        raise InputError(f"{path} needs an MPI to run: {error}") from None
    if module and found.mpi.module != module:
        raise InputError(f"{path} was built for {module}, but the launcher {found.program} is of another MPI")
    blas, present = _libraries(path)
    return Program(path, found, blas, present, tuple(words))


def _path_of(given: Path | None) -> str:
    if given is not None:
        check_program(given)
        return str(given.resolve())
    for name in _NAMES:
        if found := shutil.which(name):
            return str(Path(found).absolute())
    raise InputError(
        "there is no HPL on PATH (looked for xhpl and hpcc); install one, for example with `apt-get install hpcc`, or "
        "give its path with --program"
    )


def check_program(given: Path) -> None:
    """Raises InputError if it cannot run."""
    if not given.is_file() or not os.access(given, os.X_OK):
        raise InputError(f"--program {given}: there is no such program; give the path of xhpl or hpcc")


def names_of_blas(program: Path) -> list[str]:
    """The BLAS libraries that the program can use here."""
    return [*_libraries(str(program.resolve()))[0]]


def _libraries(path: str) -> tuple[dict[str, str], str]:
    """The folders of the BLAS libraries, by name, and the name of the present one. Debian has a folder for each BLAS,
    with a library of the same name."""
    linked = _LINKED.search(said_by("ldd", path))
    if not linked:
        return {}, ITS_OWN
    present = Path(linked[1]).resolve().parent
    folders = [file.parent for file in sorted(present.parent.glob(f"*/{_BLAS}"))]
    found = {_TITLES.get(folder.name, folder.name): str(folder) for folder in folders}
    name = next((name for name, folder in found.items() if folder == str(present)), ITS_OWN)
    return found, name


def with_blas(program: Program, names: Sequence[str]) -> Program:
    """The program with only these libraries. Raises InputError for one that is not there."""
    for name in names:
        if name not in program.blas and name != program.present_blas:
            there = ", ".join(program.blas) or f"{program.present_blas} (the program does not link {_BLAS})"
            raise InputError(f"blas: there is no '{name}' on this machine; there are {there}")
    return replace(program, blas={name: folder for name, folder in program.blas.items() if name in names})


def compiler_of(path: str) -> str:
    """The compiler that built the program, as far as the program says so."""
    said = said_by("readelf", "-p", ".comment", path)
    found = re.search(r"(GCC|clang)[^\n]*?(\d+\.\d+)", said)
    return f"{found[1]} {found[2]}" if found else "unknown"
