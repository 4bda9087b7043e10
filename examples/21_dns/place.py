"""Words of mpiexec, for `culmen tune command`: with `--bind-to core`, each rank gets a core for each of its threads.

By themselves, Open MPI and MPICH would bind all threads of a rank to one core.
"""

import subprocess


def expanded(words: list[str]) -> list[str]:
    at, threads = words.index("--bind-to"), words[words.index("--threads") + 1]
    if words[at + 1] != "core":
        return words
    launcher = words[words.index("-n") - 1]
    version = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=True).stdout
    is_openmpi = "OpenRTE" in version or "Open MPI" in version
    bound = ["--map-by", f"slot:PE={threads}", "--bind-to", "core"] if is_openmpi else ["--bind-to", f"core:{threads}"]
    return [*words[:at], *bound, *words[at + 2 :]]
