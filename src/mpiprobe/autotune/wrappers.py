"""Writes the wrappers of the tuner as C, from the probe's table: ``wrappers.py functions.ini OUTPUT.c``."""

import sys
from configparser import RawConfigParser
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from signatures import type_of, with_large_counts, word_of
from wrappers import family_of, gives_request, has_large

Entry = dict[str, str]

_HEAD = """// Made by wrappers.py from functions.ini.
#include <mpi.h>

#include "mpiprobe/autotune/tune.h"

static const char* const symbols[] = {{{symbols}}};
static void* known[{count}];

static void* function(unsigned number) {{
  void* real = __atomic_load_n(&known[number], __ATOMIC_RELAXED);
  if (real != 0) return real;
  real = probe_find(symbols[number]);
  __atomic_store_n(&known[number], real, __ATOMIC_RELAXED);
  return real;
}}

#define SUM(counts, state) \\
  _Generic((counts)[0], int: sum_of, MPI_Count: large_sum_of)((const void*)(counts), (state)->size)
static inline uint64_t sum_of(const int* counts, int size) {{
  uint64_t sum = 0;
  for (int k = 0; k < size; ++k) sum += (uint64_t)counts[k];
  return sum;
}}
static inline uint64_t large_sum_of(const MPI_Count* counts, int size) {{
  uint64_t sum = 0;
  for (int k = 0; k < size; ++k) sum += (uint64_t)counts[k];
  return sum;
}}
"""

# Fortran bindings call MPI_… or PMPI_…, with everything converted to C.
_PUBLIC = """
PROBE_MPI({name}, {arguments}) {{ return {name}_tuned({words}); }}
PROBE_MPI(P{name}, {arguments}) {{
  if (probe_counts(__builtin_return_address(0))) return {name}_tuned({words});
  return ((int (*)({types}))function({number}))({words});
}}
"""
_COLLECTIVE = """
static int {name}_tuned({arguments}) {{
  int (*const real)({types}) = (int (*)({types}))function({number});
  struct tune_state* const state = tune_state_of(comm);
  if (state == NULL{leaves}) return real({words});
  struct tune_cell* const cell = tune_cell(state, tune_{what}, {bytes});
  if (cell == NULL) return real({words});
  struct tune_call call = tune_begin(state, tune_{what}, cell);
  const int error = real({words_there});
  tune_end(state, tune_{what}, cell, &call, error);
  return error;
}}"""
_NONBLOCKING = """
static int {name}_tuned({arguments}) {{
  int (*const real)({types}) = (int (*)({types}))function({number});
  struct tune_state* const state = tune_state_of(comm);
  if (state == NULL{leaves}) return tune_passed(real({words}), request);
  struct tune_cell* const cell = tune_nonblocking_cell(state, tune_i{what}, {bytes});
  if (cell == NULL) return tune_passed(real({words}), request);
  struct tune_later call = tune_start(state, tune_i{what}, cell);
  const int error = real({words});
  tune_started(state, tune_i{what}, &call, error, request);
  return error;
}}"""
_PERSISTENT = """
static int {name}_tuned({arguments}) {{
  int (*const real)({types}) = (int (*)({types}))function({number});
  struct tune_state* const state = tune_state_of(comm);
  if (state == NULL{leaves}) return tune_passed(real({words}), request);
  const unsigned algorithm = tune_algorithm_to_keep(state, tune_i{what}, {bytes});
  const int keeps_errors = algorithm != 0 && tune_keeps_errors(state);
  if (algorithm != 0) tune_set(tune_i{what}, algorithm);
  const int error = real({words});
  if (algorithm != 0) tune_set(tune_i{what}, 0);
  tune_passed(error, request);
  if (keeps_errors) tune_tell_error(state, 1, error);
  return error;
}}"""
# They count whoever calls them, so that no request is mistaken for an earlier one with the same handle.
_WATCHED = """
PROBE_MPI({name}, {arguments}) {{ return {name}_tuned({words}); }}
PROBE_MPI(P{name}, {arguments}) {{ return {name}_tuned({words}); }}
"""
_WAITS = """
static int {name}_tuned({arguments}) {{
  int (*const real)({types}) = (int (*)({types}))function({number});
  if (tune_under_way == 0) return real({words});
  struct tune_wait wait;
  tune_before_wait(&wait, {count}, {requests});
  const int error = real({words});
  tune_after_wait(&wait, {requests});
  return error;
}}"""
_STARTER = """
static int {name}_tuned({arguments}) {{
  return tune_passed(((int (*)({types}))function({number}))({words}), request);
}}"""
_DROPPER = """
static int {name}_tuned({arguments}) {{
  tune_passed(MPI_SUCCESS, request);
  return ((int (*)({types}))function({number}))({words});
}}"""
_MAKER = """
static int {name}_tuned({arguments}) {{
{later}  tune_begin_making();
  const int error = ((int (*)({types}))function({number}))({words});
  tune_end_making();
  return {passed};
}}"""
_CREATOR = """
static int {name}_tuned({arguments}) {{
  tune_begin_making();
  const int error = ((int (*)({types}))function({number}))({words});
  tune_end_making();
  if (error == MPI_SUCCESS) {named};
  return error;
}}"""

# The size of a call in bytes, which is the same on every rank: that of the vector, or of the block of a rank. In the
# functions of the last row, ranks know different sizes. So these functions have only one class.
_BYTES = {
    "bcast reduce allreduce scan exscan": "(uint64_t)count * probe_size_of(datatype)",
    "allgather alltoall": "(uint64_t)recvcount * probe_size_of(recvtype)",
    "gather": "state->rank == root ? (uint64_t)recvcount * probe_size_of(recvtype)"
    " : (uint64_t)sendcount * probe_size_of(sendtype)",
    "scatter": "state->rank == root ? (uint64_t)sendcount * probe_size_of(sendtype)"
    " : (uint64_t)recvcount * probe_size_of(recvtype)",
    "allgatherv": "SUM(recvcounts, state) * probe_size_of(recvtype)",
    "reduce_scatter": "SUM(recvcounts, state) * probe_size_of(datatype)",
    "reduce_scatter_block": "(uint64_t)recvcount * probe_size_of(datatype)",
    "barrier gatherv scatterv alltoallv": "0",
}
_OF = {f"MPI_{name.capitalize()}": text for names, text in _BYTES.items() for name in names.split()}
_COMPLETE_LATER = "idup"  # no attribute can be given to such a communicator yet


def main(table: Path, out: Path) -> None:
    read = RawConfigParser()
    read.read_string(table.read_text())
    functions: dict[str, Entry] = {}
    for name in read.sections():
        entry = dict(read[name])
        if name in _OF:
            for each, of_it in _family(name, entry).items():
                functions[each] = of_it
                if name != "MPI_Barrier":
                    large = {"arguments": with_large_counts(of_it["arguments"]), "since": "LARGE"}
                    functions[f"{each}_c"] = of_it | large
        elif {"waits", "creates", "makes", "drops"} & set(entry) or name.startswith("MPI_Request_get_status"):
            functions[name] = entry
    functions = _starters(read) | functions
    names = list(functions)
    text = _HEAD.format(symbols=", ".join(f'"{name}"' for name in names), count=len(names))
    for number, (name, entry) in enumerate(functions.items()):
        wrapper = _wrapper(name, number, entry)
        since = entry.get("since", "").replace(".", "_")
        text += f"\n#if PROBE_MPI_{since}{wrapper}#endif\n" if since else wrapper
    out.write_text(text)


def _starters(read: RawConfigParser) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for name in read.sections():
        for each, entry in family_of(name, dict(read[name])).items():
            if gives_request(entry):
                found[each] = {**entry, "way": _STARTER}
                if has_large(entry):
                    large = {"arguments": with_large_counts(entry["arguments"]), "since": "LARGE"}
                    found[f"{each}_c"] = {**entry, **large, "way": _STARTER}
    return found


def _family(name: str, entry: Entry) -> dict[str, Entry]:
    """The function, the nonblocking one and the persistent one. Open MPI 5 has persistent ones, too, although its
    MPI_VERSION is 3."""
    request = ", MPI_Request* request"
    table = {"what": name.removeprefix("MPI_").lower()}
    return {
        name: {**entry, **table},
        entry["nonblocking"]: {**table, "arguments": entry["arguments"] + request, "way": _NONBLOCKING},
        entry["persistent"]: {
            **table,
            "arguments": f"{entry['arguments']}, MPI_Info info{request}",
            "way": _PERSISTENT,
        },
    }


def _wrapper(name: str, number: int, entry: Entry) -> str:
    declared = entry["arguments"].split(", ")
    words = [word_of(one) for one in declared]
    common = {
        "name": name,
        "arguments": entry["arguments"],
        "types": ", ".join(map(type_of, declared)),
        "number": number,
        "words": ", ".join(words),
    }
    public = _PUBLIC.format(**common)
    has_name = entry.get("creates", _COMPLETE_LATER) != _COMPLETE_LATER and "MPI_Comm comm" in declared
    if "makes" in entry or ("creates" in entry and not has_name):
        later = "  tune_makes_later();\n" if entry.get("creates") == _COMPLETE_LATER else ""
        passed = "tune_passed(error, request)" if "request" in words else "error"
        return _MAKER.format(**common, later=later, passed=passed) + public
    if "creates" in entry:
        how = entry["creates"]
        named = f'tune_named(comm, *newcomm, "{how}", {entry.get("colour", "-1")})'
        by_ranks = {
            "create_group": "tune_named_group(comm, *newcomm, group, tag)",
            "inter": "tune_named_between(*newcomm)",
        }
        return _CREATOR.format(**common, named=by_ranks.get(how, named)) + public
    watched = _WATCHED.format(**common)
    if "waits" in entry or "looks_at" in entry:
        requests = "requests" if "requests" in words else "request" if "waits" in entry else "&request"
        count = words[0] if requests == "requests" else "1"
        return _WAITS.format(**common, count=count, requests=requests) + watched
    if "drops" in entry:
        return _DROPPER.format(**common) + watched
    if entry.get("way") == _STARTER:
        return _STARTER.format(**common) + watched
    special = {
        "what": entry["what"],
        "bytes": _OF[f"MPI_{entry['what'].capitalize()}"],
        "leaves": " || tune_leaves(op)" if "op" in words else "",
        "words_there": ", ".join("call.comm" if word == "comm" else word for word in words),
    }
    return entry.get("way", _COLLECTIVE).format(**common, **special) + public


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
