"""`culmen tune hpl`: several programs, how their ranks are bound, and the buffers of their sockets."""

import dataclasses

import pytest
from culmen.launch.mpi import Launcher, load
from culmen.tune.hpl import sockets
from culmen.tune.hpl.choosing import bound, left_out, machine_settings
from culmen.tune.hpl.compilers import compilers_named, flags_listed, words_for_blas
from culmen.tune.hpl.program import Program
from culmen.tune.hpl.programs import Programs, program_of
from culmen.tune.hpl.sockets import has_tcp_buffers
from culmen.tune.hpl.space import calculator, check_tcp, command_for, fixed_by, space_for
from culmen.tune.placement.topology import Topology
from kernel_files import kernel_limits

from culmen import InputError

pytestmark = pytest.mark.no_numbers

MPIS = {mpi.title: mpi for mpi in load()}
OPEN_MPI = Program("/opt/open/xhpl", Launcher("mpirun", MPIS["Open MPI 4"]), {"blis": "/lib/blis"}, "blis")
MPICH = Program("/opt/mpich/xhpl", Launcher("mpiexec", MPIS["MPICH 4"]), {"blis": "/lib/blis"}, "blis")
CHOICES = [("openmpi", "gcc", "-O2"), ("openmpi", "gcc", "-O3"), ("mpich", "gcc", "-O3"), ("mpich", "clang", "-O3")]
PROGRAMS = Programs({choice: OPEN_MPI if choice[0] == "openmpi" else MPICH for choice in CHOICES})
SOCKETS = [[[0], [1], [2], [3]], [[4], [5], [6], [7]]]
TWO_SOCKETS = Topology(SOCKETS, {0: [0, 1, 2, 3], 1: [4, 5, 6, 7]}, "a test")


def test_what_was_not_built_is_excluded():
    excluded = PROGRAMS.constraints({"mpi", "compiler", "flags"})
    assert len(excluded) == 2 * 2 * 2 - 4
    assert "mpi != 'mpich' or compiler != 'gcc' or flags != '-O2'" in excluded.values()
    assert PROGRAMS.constraints({"nb"}) == {}
    assert list(PROGRAMS.constraints({"mpi"}).values()) == ["mpi != 'mpich'"], "there is no mpich, gcc, -O2"


def test_fixed_values_leave_the_programs_that_have_them():
    assert list(PROGRAMS.with_values({"mpi": "mpich"}).by_choice) == CHOICES[2:]
    assert PROGRAMS.with_values({"compiler": "clang"}).present_settings()["mpi"] == "mpich"
    with pytest.raises(InputError, match=r"--fix mpi=intel: there is no such build; there are openmpi, mpich"):
        PROGRAMS.with_values({"mpi": "intel"})
    assert fixed_by(["flags=-O3", "mpi=mpich", "tcp_buffers=65536"], 4)["tcp_buffers"] == 65536


def test_settings_choose_their_program():
    settings = {**calculator(2, "blis"), "mpi": "mpich", "compiler": "clang", "flags": "-O3"}
    assert PROGRAMS.of(settings) is MPICH
    assert program_of(PROGRAMS.content(), settings)["path"] == MPICH.path
    assert program_of(Programs.one(OPEN_MPI).content(), calculator(2, "blis"))["path"] == OPEN_MPI.path


def test_a_list_of_flags_has_commas():
    assert flags_listed(["-O2,-O3 -march=native"]) == ["-O2", "-O3 -march=native"]
    assert flags_listed(["-O2 -Wl,-z,now", "-O3, -O1"]) == ["-O2 -Wl,-z,now", "-O3", "-O1"]
    assert flags_listed([]) == ["-O2", "-O3 -march=native"]


def test_a_name_stands_for_the_newest_version(tmp_path, monkeypatch):
    for name in ("quickcc-9", "quickcc-16", "quickcc-16-base", "sh", "cc"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'quickcc version 16.0.6 (a build)'\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (found,) = compilers_named("quickcc")
    assert (found.path, found.title) == (str(tmp_path / "quickcc-16"), "quickcc 16.0.6")
    with pytest.raises(InputError, match="no C compiler is on PATH"):
        compilers_named(None)
    assert words_for_blas("-L/opt/lib -lblis") == ["-L/opt/lib", "-lblis"]


# -- binding


@pytest.fixture
def two_sockets(monkeypatch):
    monkeypatch.setattr("culmen.tune.hpl.choosing.read_topology", lambda: TWO_SOCKETS)


def words(program, grid, binding, cores=8):
    found = bound(Programs.one(program), cores).present
    settings = {**calculator(2, "blis"), "grid": grid, "binding": binding}
    return " ".join(command_for(found, settings, cores)[0])


def test_ranks_are_bound_in_the_words_of_their_launcher(two_sockets):
    assert "--map-by ppr:2:socket:PE=2 --rank-by slot --bind-to core" in words(OPEN_MPI, "2x2", "core")
    assert "-bind-to user:0+1,2+3,4+5,6+7" in words(MPICH, "2x2", "core")
    assert "--bind-to socket" in words(OPEN_MPI, "1x2", "socket")
    assert "-bind-to none" in words(MPICH, "2x2", "none")
    assert "bind-to" not in words(OPEN_MPI, "1x1", "default", cores=1)
    assert "--bind-to core" in words(OPEN_MPI, "2x3", "core"), "six ranks on eight cores"


def test_a_rank_with_the_threads_of_two_sockets_is_not_bound_to_cores(two_sockets):
    assert "--bind-to none" in words(OPEN_MPI, "1x1", "core")
    assert "-bind-to none" in words(MPICH, "1x1", "core")


def test_binding_is_searched_unless_it_has_no_effect(two_sockets):
    programs = bound(PROGRAMS, 8)
    start = {**calculator(8, "blis"), **machine_settings(programs)}
    space = space_for(programs, 8, None, [start], None, {})
    assert space["binding"]["choices"] == ["default", "core", "none", "socket"]
    assert "binding" not in machine_settings(bound(PROGRAMS, 1))
    assert any("there is one core" in sentence for sentence in left_out(bound(PROGRAMS, 1), 1))
    mine = dataclasses.replace(OPEN_MPI, words=("--bind-to", "core"))
    alone = bound(Programs.one(mine), 8)
    assert "binding" not in machine_settings(alone)
    assert any("your words for mpiexec say it" in sentence for sentence in left_out(alone, 8))


# -- TCP


def test_buffers_of_sockets_matter_only_if_messages_use_them(monkeypatch):
    monkeypatch.delenv("OMPI_MCA_btl", raising=False)
    assert not has_tcp_buffers(OPEN_MPI)
    assert has_tcp_buffers(dataclasses.replace(OPEN_MPI, words=("--mca", "btl", "tcp,self")))
    assert not has_tcp_buffers(dataclasses.replace(OPEN_MPI, words=("--mca", "btl", "tcp,vader,self")))
    monkeypatch.setenv("OMPI_MCA_btl", "self,tcp")
    assert has_tcp_buffers(OPEN_MPI)
    monkeypatch.setattr(sockets, "nodes", lambda: 2)
    monkeypatch.delenv("OMPI_MCA_btl")
    assert has_tcp_buffers(OPEN_MPI)


def test_buffers_of_sockets_are_set_in_the_words_of_the_mpi(monkeypatch):
    monkeypatch.setattr(sockets, "said_by", lambda *_: "libucp.so.0 => /lib/libucp.so.0")
    monkeypatch.setenv("UCX_TLS", "tcp,self")
    assert has_tcp_buffers(MPICH)
    settings = {**calculator(2, "blis"), "tcp_buffers": 65536}
    assert {"UCX_TCP_SNDBUF=65536", "UCX_TCP_RCVBUF=65536"} <= set(command_for(MPICH, settings, 2)[0])
    words = " ".join(command_for(OPEN_MPI, settings, 2)[0])
    assert "--mca btl_tcp_sndbuf 65536 --mca btl_tcp_rcvbuf 65536" in words
    assert "buf" not in " ".join(command_for(OPEN_MPI, {**settings, "tcp_buffers": 0}, 2)[0])


def test_buffers_that_the_kernel_would_cut_are_left_out(monkeypatch, tmp_path):
    kernel_limits(tmp_path, 212_992)
    monkeypatch.setenv("CULMEN_PROC_SYS", str(tmp_path))
    monkeypatch.setattr(sockets, "nodes", lambda: 2)
    programs = Programs.one(OPEN_MPI)
    start = {**calculator(2, "blis"), **machine_settings(programs)}
    assert space_for(programs, 4, None, [start], None, {})["tcp_buffers"]["choices"] == [0, 65_536]
    said = "Left out: TCP buffers above the kernel's limit of 212992 bytes (net.core.rmem_max, net.core.wmem_max)."
    assert said in left_out(programs, 4)
    kernel_limits(tmp_path, 4_194_304)
    assert not any("TCP buffers" in sentence for sentence in left_out(programs, 4))


def test_a_fixed_buffer_that_the_kernel_would_cut_is_refused(monkeypatch, tmp_path):
    kernel_limits(tmp_path, 212_992)
    monkeypatch.setenv("CULMEN_PROC_SYS", str(tmp_path))
    for size in (0, 212_992):
        check_tcp(fixed_by([f"tcp_buffers={size}"], 4))
    check_tcp({})
    allowed = (
        r"--fix tcp_buffers=212993: the kernel allows at most 212992 bytes \(net.core.rmem_max, net.core.wmem_max\)"
    )
    with pytest.raises(InputError, match=allowed):
        check_tcp(fixed_by(["tcp_buffers=212993"], 4))


def test_an_mpi_whose_buffers_are_unknown_is_named(monkeypatch):
    monkeypatch.setattr(sockets, "nodes", lambda: 2)
    monkeypatch.setattr("culmen.tune.hpl.choosing.nodes", lambda: 2)
    intel = dataclasses.replace(MPICH, launcher=Launcher("mpiexec", MPIS["Intel MPI"]))
    found = Programs({("openmpi", "gcc", "-O2"): OPEN_MPI, ("intel", "gcc", "-O2"): intel})
    assert "tcp_buffers" not in machine_settings(found)
    assert any("does not know how Intel MPI sets them" in sentence for sentence in left_out(found, 4))
