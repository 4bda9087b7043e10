"""A stand-in for LSF's commands on this machine: bsub, bjobs, bkill, bqueues, bhosts, lshosts and bmgroup. LSF itself
is not free. Their options and output follow the command reference of IBM Spectrum LSF 10.1."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

COMMANDS = ("bsub", "bjobs", "bkill", "bqueues", "bhosts", "lshosts", "bmgroup")
QUEUES = """\

QUEUE: normal
  -- For jobs of any length.  This is the default queue.

PARAMETERS/STATISTICS
PRIO NICE STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN SSUSP USUSP  RSV PJOBS
 30    0  Open:Active       -    -    -    -     0     0     0     0     0    0     0
Interval for a host to accept two jobs is 0 seconds

SCHEDULING PARAMETERS
           r15s   r1m  r15m   ut      pg    io   ls    it    tmp    swp    mem
 loadSched   -     -     -     -       -     -    -     -     -      -      -
 loadStop    -     -     -     -       -     -    -     -     -      -      -

USERS: all
HOSTS:  all

------------------------------------------------------------------------------
QUEUE: short
  -- For short jobs.

PARAMETERS/STATISTICS
PRIO NICE STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN SSUSP USUSP  RSV PJOBS
 40    0  Open:Active       -    -    -    -     0     0     0     0     0    0     0

 MAXIMUM LIMITS:
 RUNLIMIT
 3.0 min

USERS: all
HOSTS:  small/

------------------------------------------------------------------------------
QUEUE: shut
  -- Being mended.

PARAMETERS/STATISTICS
PRIO NICE STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN SSUSP USUSP  RSV PJOBS
 40    0  Closed:Active     -    -    -    -     0     0     0     0     0    0     0

 MAXIMUM LIMITS:
 CPULIMIT                  RUNLIMIT
 20.0 min of hostA         90.0 min of hostA

USERS: all
HOSTS:  hostA+2 hostB
"""
BHOSTS = """\
HOST_NAME          STATUS          JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV
hostA              ok              -          8      0      0      0      0      0
hostB              closed_Full     -          8      8      8      0      0      0
hostC              unavail         -          -      0      0      0      0      0
"""
LSHOSTS = """\
HOST_NAME                       type       model  cpuf ncpus maxmem maxswp server RESOURCES
hostA                         X86_64    Intel_EM  60.0    16  15.5G   3.9G    Yes (mg)
hostB                         X86_64    Intel_EM  60.0    16  15.5G   3.9G    Yes ()
hostC                         X86_64    Intel_EM  60.0     4      -      -    Yes ()
"""
BMGROUP = "GROUP_NAME    HOSTS\nsmall         hostA hostB\n"


def install(folder: Path) -> dict[str, str]:
    """The environment in which these commands are first on PATH."""
    programs = folder / "lsf"
    programs.mkdir()
    for name in COMMANDS:
        program = programs / name
        words = shlex.join([sys.executable, __file__, name, str(folder)])
        program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        program.chmod(0o755)
    return {"PATH": f"{programs}:{os.environ['PATH']}"}


def bsub(folder: Path) -> None:
    script = sys.stdin.read()
    options = dict(re.findall(r"^#BSUB -(\w+) *(.*)$", script, re.MULTILINE))
    number = 1 + len(list(folder.glob("job.*.sh")))
    (folder / f"job.{number}.sh").write_text(script)
    write(folder, number, stat="PEND", pend_reason="New job is waiting for scheduling;")
    words = [sys.executable, __file__, "run", str(folder), str(number), json.dumps(options)]
    with Path(os.devnull).open("r+") as nothing:
        subprocess.Popen(words, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
    print(f"Job <{number}> is submitted to queue <{options['q']}>.")


def run(folder: Path, number: str, text: str) -> None:
    """Ends the job when the file $MINI_LSF_LIMIT_AT appears: its time is up then."""
    options = json.loads(text)
    variables = {"LSB_JOBID": number, "LSB_QUEUE": options["q"], "LSB_MCPU_HOSTS": f"hostA {options['n']}"}
    begun = time.monotonic()
    job = subprocess.Popen(["bash", folder / f"job.{number}.sh"], env=os.environ | variables, start_new_session=True)
    write(folder, number, stat="RUN", exec_host=f"{options['n']}*hostA", pid=job.pid)
    limit = os.environ.get("MINI_LSF_LIMIT_AT", "")
    while job.poll() is None:
        time.sleep(0.02)
        if limit and Path(limit).exists():
            job.send_signal(signal.SIGTERM if "TERM" in options.get("wa", "") else signal.SIGKILL)
            limit = ""
    killed = (folder / f"job.{number}.killed").exists()
    code = 128 - job.returncode if job.returncode < 0 else job.returncode
    write(
        folder,
        number,
        stat="EXIT" if code else "DONE",
        exit_code=str(code or "-"),
        exit_reason="TERM_OWNER: job killed by owner" if killed else "-",
        run_time=f"{int(time.monotonic() - begun)} second(s)",
    )


def state(folder: Path, number: object) -> dict[str, str]:
    return json.loads((folder / f"job.{number}.json").read_text())


def write(folder: Path, number: object, **state: object) -> None:
    new = folder / f"job.{number}.new"
    new.write_text(json.dumps(state))
    new.replace(folder / f"job.{number}.json")


def bjobs(folder: Path, noheader: str, o: str, words: str, number: str) -> None:
    assert (noheader, o) == ("-noheader", "-o")
    if not (folder / f"job.{number}.json").exists():
        sys.exit(f"Job <{number}> is not found")
    *names, delimiter = words.split()
    found = state(folder, number)
    print(delimiter.partition("=")[2].strip("'").join(str(found.get(name, "-")) for name in names))


def bkill(folder: Path, number: str) -> None:
    """LSF sends SIGINT and SIGTERM, and SIGKILL later."""
    (folder / f"job.{number}.killed").touch()
    job = int(state(folder, number)["pid"])
    print(f"Job <{number}> is being terminated")
    for word in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job, word)
        until = time.monotonic() + 2
        while state(folder, number)["stat"] == "RUN" and time.monotonic() < until:
            time.sleep(0.02)


if __name__ == "__main__":
    command, place, *rest = sys.argv[1:]
    texts = {"bqueues": QUEUES, "bhosts": BHOSTS, "lshosts": LSHOSTS, "bmgroup": BMGROUP}
    if command in texts:
        print(texts[command], end="")
    else:
        {"bsub": bsub, "run": run, "bjobs": bjobs, "bkill": bkill}[command](Path(place), *rest)
