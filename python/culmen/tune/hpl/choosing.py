"""The programs of ``culmen tune hpl``: builds of HPL, and how their ranks can be bound."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

from ..._core import InputError
from ...launch.kernel import LIMITS, socket_limit
from ...launch.mpi import Placement
from ..placement.placed import words_for
from ..placement.topology import Topology, read_topology
from .building import build, built_before, mpicc_of, place_of, seconds_in
from .checked import check_build
from .compilers import compilers_named, flags_listed, words_for_blas
from .making import commands_in
from .options import Options
from .program import DEFAULT, Program, bound_by, find_program, nodes
from .programs import Choice, Programs
from .recipe import Recipe, Sources, mpis_named
from .sockets import has_tcp_buffers
from .space import TCP_BYTES, bindings_of, tcp_sizes

BUILDS = "builds"  # a folder
AFTER_BUILD = "known after the build"  # the BLAS of a program that is not there yet


def found_programs(
    options: Options, folder: Path, say: Callable[[str], None], builds: bool = True
) -> tuple[Programs, list[str]]:  # fmt: skip
    """The programs, and a sentence for each build that failed. ``builds``: if false, culmen builds nothing, and says
    only how it would build. Raises InputError if there is no program."""
    check_build(options, folder)
    if options.build is None:
        return Programs.one(find_program(options.program, options.words)), []
    sources, recipes, failed = Sources.at(options.build, folder), _recipes(options), []
    say(f"Builds of HPL in {folder / BUILDS}: {len(recipes)}")
    built: dict[Choice, Program] = {}
    for recipe in recipes:
        try:
            make = _built if builds else _planned
            built[recipe.choice] = make(sources, recipe, options, folder / BUILDS, say)
        except InputError as error:
            failed.append(f"Left out: the build with {recipe}. {error}")
            say(failed[-1])
    if not built:
        raise InputError(f"no build of {options.build} succeeded. {failed[0]}")
    return Programs(built), failed


def built_s(options: Options, folder: Path) -> float:
    """The time of all builds in seconds, also of failed ones, and of those that an earlier tuning made."""
    if options.build is None:
        return 0.0
    sources = Sources.at(options.build, folder)
    return sum(seconds_in(place_of(sources, recipe, folder / BUILDS)) for recipe in _recipes(options))


def _built(
    sources: Sources, recipe: Recipe, options: Options, folder: Path, say: Callable[[str], None]
) -> Program:  # fmt: skip
    path, anew = build(sources, recipe, folder, lambda _: None)
    found = find_program(path, options.words, recipe.mpi)
    say(f"{'Built' if anew else 'Built before'}: {recipe}")
    return replace(found, compiler=recipe.compiler.title, flags=recipe.flags)


def _planned(
    sources: Sources, recipe: Recipe, options: Options, folder: Path, say: Callable[[str], None]
) -> Program:  # fmt: skip
    """Builds nothing, but says how culmen would build the program. Its BLAS is known only after the build."""
    if (path := built_before(sources, recipe, folder)) is not None:
        say(f"Built before: {recipe}")
        return find_program(path, options.words, recipe.mpi)
    place = place_of(sources, recipe, folder)
    say(f"To build: {recipe}, in {place}")
    if sources.path.is_dir():
        for line in commands_in(sources.path, recipe, mpicc_of(recipe)):
            say(f"  {line}")
    name = "hpcc" if (sources.path / "hpl").is_dir() or "hpcc" in sources.path.name else "xhpl"
    return Program(str(place / name), recipe.launcher, {}, AFTER_BUILD, tuple(options.words))


def _recipes(options: Options) -> list[Recipe]:
    compilers, flags, mpis = compilers_named(options.compilers), flags_listed(options.flags), mpis_named(options.mpis)
    if options.words and len(mpis) > 1:
        raise InputError(f"words after -- are for one mpiexec; name one MPI with --mpis (there are {', '.join(mpis)})")
    blas = tuple(words_for_blas(options.link))
    return [
        Recipe(name, launcher, compiler, flag, blas)
        for (name, launcher), compiler, flag in product(mpis.items(), compilers, flags)
    ]


# -- binding


def bound(programs: Programs, cores: int) -> Programs:
    """The programs, with the words for their launchers that bind ranks. There are no such words if binding has no
    effect, or if culmen does not know the words."""
    if cores == 1 or any(map(_is_unknown, programs.by_choice.values())):
        return programs
    try:
        topology = read_topology()
    except InputError:
        return programs
    found = {choice: replace(each, bound=_bound(each, topology, cores)) for choice, each in programs.by_choice.items()}
    return Programs(found)


def _is_unknown(program: Program) -> bool:
    known = program.launcher.mpi.placement
    return program.is_placed_by_words or known is None or not known.bindings


def _bound(program: Program, topology: Topology, cores: int) -> dict[str, list[str]]:
    """The words for each binding and each number of ranks per node. Ranks are not bound if their threads do not fit
    into the sockets."""
    known = program.launcher.mpi.placement
    assert known is not None
    out = {}
    for per_node in range(1, max(1, cores // nodes()) + 1):
        threads = max(1, cores // nodes() // per_node)
        room = topology.cores_per_socket // threads * len(topology.sockets)
        for binding in ("none", "core", *(["socket"] if len(topology.sockets) > 1 else [])):
            real = binding if binding == "none" or per_node <= room else "none"
            out[bound_by(binding, per_node, threads)] = _words(known, topology, per_node, threads, real)
    return out


def _words(known: Placement, topology: Topology, per_node: int, threads: int, binding: str) -> list[str]:
    plan = {
        "words": asdict(known),
        "sockets": [cores[: topology.cores_per_socket] for cores in topology.sockets],
        "numa": [cpus for cpus in topology.numa.values() if cpus],
        "options": [],
        "ranks": per_node,
        "nodes": nodes(),
        "threads": threads,
        "openmp": False,
    }
    return words_for(plan, {"binding": binding})


# -- parameters that are not searched


def left_out(programs: Programs, cores: int) -> list[str]:
    """A sentence for each parameter of the machine that has no effect here, or that culmen cannot change."""
    return [*_of_build(programs), *_of_binding(programs, cores), *_of_tcp(programs)]


def _of_build(programs: Programs) -> Iterator[str]:
    if not programs.names:
        yield "Left out: the MPI, the compiler and its flags; --build FOLDER builds HPL with several of them."


def _of_binding(programs: Programs, cores: int) -> Iterator[str]:
    if bindings_of(programs)[1:]:
        return
    if cores == 1:
        yield "Left out: the binding of ranks, because there is one core."
    elif any(each.is_placed_by_words for each in programs.by_choice.values()):
        yield "Left out: the binding of ranks, because your words for mpiexec say it."
    else:
        yield "Left out: the binding of ranks, because culmen does not know how this launcher binds them."


def _of_tcp(programs: Programs) -> Iterator[str]:
    several = list(programs.by_choice.values())
    if all(map(has_tcp_buffers, several)):
        if tcp_sizes()[-1] < TCP_BYTES[-1]:
            limit = f"the kernel's limit of {socket_limit()} bytes ({', '.join(LIMITS)})"
            yield f"Left out: TCP buffers above {limit}."
        return
    if nodes() == 1 and not any(map(has_tcp_buffers, several)):
        yield "Left out: TCP buffers, because the ranks of one machine send messages through memory."
    else:
        names = dict.fromkeys(each.launcher.mpi.title for each in several if not has_tcp_buffers(each))
        yield f"Left out: TCP buffers, because culmen does not know how {', '.join(names)} sets them."


def machine_settings(programs: Programs) -> dict[str, str | int]:
    """The present values of parameters that are in no input file."""
    out: dict[str, str | int] = dict(programs.present_settings())
    if bindings_of(programs)[1:]:
        out["binding"] = DEFAULT
    if all(map(has_tcp_buffers, programs.by_choice.values())):
        out["tcp_buffers"] = 0
    return out
