"""A suite with a configure or a Makefile is built for each MPI, and measures."""

import hashlib
import io
import json
import os
import shutil
import tarfile

import pytest
from culmen.bench.suites.building import build
from culmen.launch.mpi import find_launcher
from culmen.launch.mpi.linked import compilers_of, is_for
from harness import HANGS_S, culmen
from suite_sources import PROGRAM, pack_sources, write_sources

from culmen import InputError

pytestmark = pytest.mark.either("mpi")

IMB_MAKEFILE = """all:
\t@echo 'error: this also builds what is not needed'; exit 1

IMB-MPI1:
\t$(CC) -O1 -o IMB-MPI1 program.c
"""


@pytest.fixture
def launcher(mpi):
    found = find_launcher(mpi)
    if shutil.which(compilers_of(found)[0]) is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"there is no compiler of {mpi}")
    return found


@pytest.fixture
def sources(tmp_path):
    return write_sources(tmp_path / "osu-7.4")


def built(sources, launcher, folder, overwrite=False):
    return build(sources, launcher, folder, overwrite, lambda _: None)


def error_of(sources, launcher, folder):
    with pytest.raises(InputError) as error:
        built(sources, launcher, folder)
    return str(error.value)


def test_an_archive_is_built_and_measures(mpi, launcher, tmp_path):
    pack_sources(tmp_path / "osu-7.4.tar.gz")
    done = culmen("bench", "build", "osu-7.4.tar.gz", "--mpi", mpi, cwd=tmp_path, timeout=HANGS_S)
    assert done.returncode == 0, done.stderr
    assert f"Built for {launcher.mpi.title}: osu_bcast" in done.stdout
    line = next(line for line in done.stdout.splitlines() if line.startswith("To measure: culmen "))
    words = [*line.split()[3:], "--collectives", "bcast", "--ranks", 2, "--sizes", 8, "--repetitions", 5]
    assert words[:4] == ["bench", "collectives", "--with", f"bench-suites/osu-7.4-{mpi}"]
    measured = culmen(*words, "--algorithms", "default", cwd=tmp_path, timeout=HANGS_S)
    assert measured.returncode == 0, measured.stderr
    assert "default" in (tmp_path / "bench-collectives/collectives.csv").read_text()


def test_the_record_has_checksums_and_the_mpi(launcher, sources, tmp_path):
    result = built(sources, launcher, tmp_path / "out")
    assert (result.programs, result.anew) == (["sources/mpi/osu_bcast"], True)
    record = json.loads((tmp_path / "out/culmen-build.json").read_text())
    program = tmp_path / "out/sources/mpi/osu_bcast"
    assert record["programs"] == {"sources/mpi/osu_bcast": hashlib.sha256(program.read_bytes()).hexdigest()}
    assert record["mpi"].startswith(launcher.mpi.title)
    assert is_for(launcher.mpi, program)
    assert not (sources / "Makefile").exists(), "the user's folder stays as it was"


def test_the_same_build_is_not_repeated_and_another_is_not_replaced(launcher, sources, tmp_path):
    folder = tmp_path / "out"
    built(sources, launcher, folder)
    assert not built(sources, launcher, folder).anew
    (folder / "sources/mpi/osu_bcast").write_bytes(b"something else")
    assert "replace it with --overwrite, or choose another --output" in error_of(sources, launcher, folder)
    assert built(sources, launcher, folder, overwrite=True).anew
    with (sources / "mpi/osu_bcast.c").open("a") as file:
        file.write("\n")
    assert "has a build of osu-7.4 for " in error_of(sources, launcher, folder)


def test_of_the_intel_benchmarks_only_the_needed_program_is_built(launcher, tmp_path):
    folder = tmp_path / "mpi-benchmarks"
    folder.mkdir()
    shutil.copy(PROGRAM, folder / "program.c")
    (folder / "Makefile").write_text(IMB_MAKEFILE)
    assert built(folder, launcher, tmp_path / "out").programs == ["sources/IMB-MPI1"]


def test_an_error_of_the_compiler_is_named_and_the_next_build_goes_on(launcher, sources, tmp_path):
    source = sources / "mpi/osu_bcast.c"
    source.write_text("int main(void) { return none; }\n")
    said = error_of(sources, launcher, tmp_path / "out")
    assert "make ended with exit code 2: " in said
    assert "none" in said
    assert "none" in (tmp_path / "out/build.log").read_text()
    shutil.copy(PROGRAM, source)
    assert built(sources, launcher, tmp_path / "out").anew


def test_programs_of_another_mpi_are_refused(mpi, launcher, sources, tmp_path):
    built(sources, launcher, tmp_path / "out")
    other = {"openmpi": "mpich", "mpich": "openmpi"}[mpi]
    done = culmen("bench", "collectives", "--with", "out", "--collectives", "bcast", "--mpi", other, cwd=tmp_path)
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert f"osu_bcast was built for {mpi}, not for {find_launcher(other).mpi.title}; write --mpi {mpi}" in said


def test_wrong_sources_are_one_sentence(launcher, sources, tmp_path):
    out = tmp_path / "out"
    assert error_of(tmp_path / "none", launcher, out) == f"there is no file or folder {tmp_path / 'none'}"
    assert "choose another one" in error_of(sources, launcher, sources / "out")
    text = tmp_path / "text.tar"
    text.write_text("no archive")
    assert error_of(text, launcher, out) == f"{text} is neither a folder nor a tar archive"
    (sources / "configure").unlink()
    assert error_of(sources, launcher, out) == f"{sources} has neither a configure nor a Makefile"
    (sources / "Makefile").write_text("all:\n")
    assert "has no program that culmen can start (osu_… or IMB-MPI1)" in error_of(sources, launcher, out)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/thesis.tex").touch()
    assert "exists and has no build of culmen" in error_of(sources, launcher, tmp_path / "full")


@pytest.mark.parametrize(("name", "link"), [("../outside", ""), ("/tmp/outside", ""), ("a/link", "../../outside")])  # noqa: S108
def test_an_archive_cannot_write_outside_its_folder(name, link, launcher, tmp_path):
    with tarfile.open(tmp_path / "evil.tar", "w") as archive:
        member = tarfile.TarInfo(name)
        if link:
            member.type, member.linkname = tarfile.SYMTYPE, link
        archive.addfile(member, io.BytesIO())
    assert "would lie outside the folder; it was not unpacked" in error_of(
        tmp_path / "evil.tar", launcher, tmp_path / "out"
    )
    assert not (tmp_path / "outside").exists()
