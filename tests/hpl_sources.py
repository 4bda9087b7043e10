"""Sources that are built as those of HPL are, with a program that reads HPL.dat and prints what HPL prints."""

import tarfile
from pathlib import Path

# The speed depends on NB, on -DSPEED=… and on the buffers of Open MPI's sockets. dgemm_ must work, and each rank of the
# grid must be there.
_PROGRAM = r"""
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef BROKEN
#error these flags are not for this program
#endif
#ifndef SPEED
#define SPEED 50
#endif

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *);

static int line_of(int wanted) {
  char line[200] = "";
  FILE *file = fopen("HPL.dat", "r");
  for (int k = 0; k < wanted; ++k)
    if (!file || !fgets(line, sizeof line, file)) {
      fprintf(stderr, ">>> cannot read line %d of HPL.dat <<<\n", wanted);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  fclose(file);
  return atoi(line);
}

int main(int argc, char **argv) {
  int rank, size;
  const int two = 2;
  const double one = 1, zero = 0, a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  double c[4];
  MPI_Aint place;
  MPI_Init(&argc, &argv);
  MPI_Address(&rank, &place);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int n = line_of(6), nb = line_of(8), p = line_of(11), q = line_of(12);
  dgemm_("N", "N", &two, &two, &two, &one, a, &two, b, &two, &zero, c, &two);
  const int right = c[0] == 23 && c[1] == 34 && c[2] == 31 && c[3] == 46 && p * q <= size;
  if (rank == 0) {
    const char *buffer = getenv("OMPI_MCA_btl_tcp_sndbuf");
    const double more = buffer && atoi(buffer) >= 262144 ? 20 : 0;
    printf("WR11C2R4 %d %d %d %d 0.01 %.4e\n", n, nb, p, q, SPEED + more - fabs(nb - 128.0) / 16);
    printf("||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= 0.0044729 ...... %s\n", right ? "PASSED" : "FAILED");
  }
  MPI_Finalize();
  return 0;
}
"""
_MAKEFILE = """\
include Make.$(arch)
startup:
\tmkdir -p bin/$(arch)
refresh:
\t$(CP) source.c bin/$(arch)/xhpl.c
build: bin/$(arch)/xhpl
bin/$(arch)/xhpl.o: bin/$(arch)/xhpl.c
\tcd bin/$(arch) && $(CC) $(CCFLAGS) -c -o xhpl.o xhpl.c
bin/$(arch)/xhpl: bin/$(arch)/xhpl.o
\tcd bin/$(arch) && $(LINKER) $(LINKFLAGS) -o xhpl xhpl.o $(LAlib) -lm
"""
_CONFIGURE = """#!/bin/sh
for word; do
  case $word in CC=*) cc=${word#CC=};; CFLAGS=*) flags=${word#CFLAGS=};; LIBS=*) libs=${word#LIBS=};; esac
done
printf 'xhpl: source.c\\n\\t%s %s -o $@ $< %s\\n' "$cc" "$flags" "$libs" > Makefile
"""


def write_hpl(folder: Path, by_configure: bool = False) -> Path:
    """HPL has a Make.top; its version 2.3 can also be built with configure."""
    folder.mkdir(parents=True)
    (folder / "source.c").write_text(_PROGRAM)
    if by_configure:
        (folder / "configure").write_text(_CONFIGURE)
        (folder / "configure").chmod(0o755)
    else:
        (folder / "Make.top").touch()
        (folder / "Makefile").write_text(_MAKEFILE)
    return folder


def pack_hpl(archive: Path) -> Path:
    """As NAME.tar.gz with one folder NAME. The folder stays beside it."""
    name = archive.name.removesuffix(".tar.gz")
    with tarfile.open(archive, "w:gz") as file:
        file.add(write_hpl(archive.with_name(f"{name}-sources")), name)
    return archive
