"""Sources that are built as those of the OSU Micro-Benchmarks are, with one program."""

import shutil
import tarfile
from pathlib import Path

PROGRAM = Path(__file__).with_name("mpi") / "suite_program.c"
_CONFIGURE = """#!/bin/sh
for word; do case $word in CC=*) compiler=${word#CC=};; esac; done
echo "checking for the C compiler... $compiler"
printf 'mpi/osu_bcast: mpi/osu_bcast.c\\n\\t%s -O1 -o $@ $<\\n' "$compiler" > Makefile
"""


def write_sources(folder: Path) -> Path:
    (folder / "mpi").mkdir(parents=True)
    shutil.copy(PROGRAM, folder / "mpi/osu_bcast.c")
    (folder / "configure").write_text(_CONFIGURE)
    (folder / "configure").chmod(0o755)
    return folder


def pack_sources(archive: Path) -> None:
    """As NAME.tar.gz with one folder NAME. The folder stays beside it."""
    name = archive.name.removesuffix(".tar.gz")
    with tarfile.open(archive, "w:gz") as file:
        file.add(write_sources(archive.with_name(f"{name}-sources")), name)
