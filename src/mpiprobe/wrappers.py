"""Writes the wrappers of functions.ini as C: ``wrappers.py functions.ini wrappers.c``."""

import re
import sys
from collections.abc import Iterable
from configparser import RawConfigParser
from pathlib import Path

from signatures import type_of, with_large_counts, word_of

Entry = dict[str, str]

_HEAD = """// Made by wrappers.py from functions.ini.
#include <mpi.h>

#include "mpiprobe/record.h"

const char* const probe_rows[] = {{{rows}}};
const unsigned probe_row_count = {row_count};
_Static_assert({row_count} <= probe_most_functions, "a profile has room for all rows");
const uint8_t probe_row_kinds[] = {{{kinds}}};
const char* const probe_symbols[] = {{{symbols}}};
void* probe_real[{symbol_count}];
"""

# Fortran bindings call MPI_… or PMPI_…, with everything converted to C.
_WRAPPER = """
static int {name}_counted({arguments}) {{
  int (*const real)({types}) = (int (*)({types}))probe_function({number});
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (here < probe_inside) return real({words});
  probe_inside = here;
{before}  const uint64_t begin = probe_ticks();
{first}  const int error = real({words});
  const uint64_t end = probe_ticks();
{after}  probe_inside = 0;
  return error;
}}
PROBE_MPI({name}, {arguments}) {{ return {name}_counted({words}); }}
PROBE_MPI(P{name}, {arguments}) {{
  if (probe_counts(__builtin_return_address(0))) return {name}_counted({words});
  return ((int (*)({types}))probe_function({number}))({words});
}}
"""
_LEAVE_REQUESTS = {"waits", "starts", "drops", "looks_at", "readies"}
_KEEP_REQUESTS = _LEAVE_REQUESTS | {"prepares"}
_STATUS, _REQUEST = ", MPI_Status* status", ", MPI_Request* request"
_HANDLES = {"comm": "communicator", "win": "window", "fh": "file"}


def main(table: Path, out: Path) -> None:
    read = RawConfigParser()
    read.read_string(table.read_text())
    functions: dict[str, Entry] = {}
    for name in read.sections():
        functions |= family_of(name, dict(read[name]))
    large = {f"{name}_c": _large(entry) for name, entry in functions.items() if has_large(entry)}
    rows = functions | {f"{name} started": entry for name, entry in functions.items() if "prepares" in entry}
    symbols = [*functions, *large]
    text = _HEAD.format(
        rows=_quoted(rows),
        row_count=len(rows),
        kinds=", ".join(f"probe_kind_{entry['kind']}" for entry in rows.values()),
        symbols=_quoted(symbols),
        symbol_count=len(symbols),
    )
    # There is no wrapper of a function that the MPI lacks. A program may ask whether its MPI has the function, and the
    # wrapper could not call it.
    for name, entry in (functions | large).items():
        wrapper = _wrapper(name, symbols.index(name), list(rows), entry)
        since = "LARGE" if name in large else entry.get("since", "").replace(".", "_")
        text += f"\n#if PROBE_MPI_{since}{wrapper}#endif\n" if since else wrapper
    out.write_text(text)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def family_of(name: str, entry: Entry) -> dict[str, Entry]:
    """A function, and the functions that do the same in other ways."""
    ways = ("nonblocking", "nonblocking_since", "prepared", "persistent", "split")
    alone = {key: value for key, value in entry.items() if key not in ways}
    shared = {key: value for key, value in alone.items() if key != "waits_for"}
    arguments = entry["arguments"].replace(_STATUS, "")
    family = {name: alone}
    if also := entry.get("nonblocking"):
        since = {"since": entry["nonblocking_since"]} if "nonblocking_since" in entry else {}
        family[also] = {**shared, **since, **_joins(entry), "arguments": arguments + _REQUEST}
    if also := entry.get("prepared"):
        family[also] = {**shared, "arguments": arguments + _REQUEST, "prepares": "yes"}
    if also := entry.get("persistent"):
        family[also] = {**shared, "arguments": f"{arguments}, MPI_Info info{_REQUEST}", "prepares": "yes", "since": "4"}
        family[also] |= _joins(entry)
    if "split" in entry:
        buffer = re.search(r"(const )?void\* buf", arguments)
        assert buffer is not None
        family[f"{name}_begin"] = {**shared, "arguments": arguments}
        family[f"{name}_end"] = {"kind": entry["kind"], "arguments": f"MPI_File fh, {buffer[0]}{_STATUS}"}
    return family


def _joins(entry: Entry) -> Entry:
    way = entry.get("waits_for")
    return {"joins": way} if way in ("all", "root", "at_root", "lower") else {}


def has_large(entry: Entry) -> bool:
    counts = "bytes" in entry or "disp_unit" in entry["arguments"]
    return entry.get("large", "yes" if counts else "no") == "yes"


def gives_request(entry: Entry) -> bool:
    """Whether the function returns the handle of a request that was not there before."""
    return entry["arguments"].endswith(_REQUEST) and not _LEAVE_REQUESTS & set(entry)


def _large(entry: Entry) -> Entry:
    """The entry of the function with large counts, whose calls count for the usual function."""
    return {**entry, "arguments": with_large_counts(entry["arguments"])}


def _wrapper(name: str, number: int, rows: list[str], entry: Entry) -> str:
    declared = entry["arguments"].split(", ")
    words = [word_of(one) for one in declared if one != "void"]
    counted_as = name.removesuffix("_c")
    started = rows.index(f"{counted_as} started") if "prepares" in entry else 0
    return _WRAPPER.format(
        name=name,
        arguments=entry["arguments"],
        types=", ".join(map(type_of, declared)),
        words=", ".join(words),
        number=number,
        before=_lines(_before(words, entry)),
        first=_lines(_first(entry)),
        after=_lines([*_group(entry), *_after(rows.index(counted_as), started, words, entry)]),
    )


def _lines(statements: list[str]) -> str:
    return "".join(f"  {statement}\n" for statement in statements)


def _before(words: list[str], entry: Entry) -> list[str]:
    if "waits" in entry:
        return [f"struct probe_waits waits = probe_take({_number(words)}, {_requests(words)});"]
    if "drops" in entry:
        return [f"probe_freed({entry['drops']});"]
    if freed := entry.get("frees"):
        return [
            f"const unsigned communicator = probe_{_HANDLES[freed]}(*{freed});",
            f"probe_gone(PROBE_HANDLE(*{freed}));",
        ]
    if entry.get("creates") == "idup":
        return ["const MPI_Comm former = *newcomm;"]
    return []


def _first(entry: Entry) -> list[str]:
    """The code of the wait before a call; empty for functions without such a wait."""
    if "waits_for" not in entry:
        return []
    wait = {
        "all": "probe_wait_for_all(comm)",
        "root": "probe_wait_for_root(root, comm)",
        "at_root": "probe_wait_at_root(root, comm)",
        "lower": "probe_wait_for_lower(comm)",
        "neighbours": "probe_wait_for_neighbours(comm)",
        "sender": "probe_wait_for_sender(source, tag, comm)",
    }
    return [f"const uint64_t waited = probe_period == 0 ? probe_no_sample : {wait[entry['waits_for']]};"]


def _requests(words: list[str]) -> str:
    return "request" if "request" in words else "requests"


def _number(words: list[str]) -> str:
    return "1" if "request" in words else words[0]


def _group(entry: Entry) -> list[str]:
    """The number of the communicator, window or file."""
    if "frees" in entry:
        return []
    for kind, word in (("MPI_Comm", "comm"), ("MPI_Win", "win"), ("MPI_File", "fh")):
        if re.search(rf"\b{kind} {word}\b", entry["arguments"]):
            return [f"const unsigned communicator = probe_{_HANDLES[word]}({word});"]
    return ["const unsigned communicator = probe_no_communicator;"]


def _after(row: int, started: int, words: list[str], entry: Entry) -> list[str]:
    bytes_, peer = _bytes(entry), entry.get("peer", "")
    peer = f"probe_peer({peer})" if peer else "-1"
    lines = []
    if "prepares" in entry:
        traffic = f"{bytes_}, {entry.get('parts', '0')}"
        lines.append(f"if (error == MPI_SUCCESS) probe_prepared(*request, {started}, communicator, {traffic}, {peer});")
        bytes_ = "0"
    elif bytes_ != "0":
        bytes_ = f"error == MPI_SUCCESS ? {bytes_} : 0"
    starts = "request" in words and not _KEEP_REQUESTS & set(entry)
    call = f"probe_record({row}, communicator, {bytes_}, {peer}, begin, end);"
    if starts:
        call = f"struct probe_entry* const entry = {call}"
        lines += [call, "if (error == MPI_SUCCESS) probe_started(*request, entry);"]
    elif "waits" in entry:
        lines += [f"struct probe_entry* const entry = {call}", _charge(entry["waits"], words)]
    elif looked := entry.get("looks_at"):
        lines.append(f"struct probe_entry* const entry = {call}")
        lines.append(f"probe_looked({_number(words)}, {looked}, end - begin, entry);")
    elif parts := entry.get("readies"):
        lines.append(f"struct probe_entry* const entry = {call}")
        lines.append(f"if (error == MPI_SUCCESS) probe_ready(request, {parts}, end - begin, entry);")
    elif "starts" in entry:
        lines.append(f"struct probe_entry* const entry = {call}")
        lines.append(f"if (error == MPI_SUCCESS) probe_run({_number(words)}, {_requests(words)}, end - begin, entry);")
    elif "waits_for" in entry:
        lines += [f"struct probe_entry* const entry = {call}", "probe_sampled(entry, waited, end - begin);"]
    else:
        lines.append(call)
    if _exchanges(words, starts):
        lines[-1] = f"struct probe_entry* const entry = {call}"
    lines += [f"if (probe_period != 0 && error == MPI_SUCCESS) {each};" for each in _messages(words, starts, entry)]
    if "hints" in entry:
        lines.append("if (error == MPI_SUCCESS) probe_hinted(communicator, info);")
    if made := _made(entry):
        lines.append(f"if (error == MPI_SUCCESS) {made};")
    return lines


def _exchanges(words: list[str], starts: bool) -> bool:
    """Whether the function sends a message and waits for another one."""
    return "dest" in words and "source" in words and not starts


def _messages(words: list[str], starts: bool, entry: Entry) -> list[str]:
    """The statements that count the messages of a call, so that some of them can be sampled."""
    if entry.get("looks_at") == "request":
        return ["probe_lost()"]  # MPI_Cancel
    if way := entry.get("joins"):
        root = "root" if "root" in words else "-1"
        if "prepares" in entry:
            return [f"probe_prepared_collective(*request, communicator, probe_needs_{way}, {root})"]
        return [f"probe_joins(*request, communicator, probe_needs_{way}, {root}, entry, begin)"]
    if entry["kind"] != "messages" or "comm" not in words or "parts" in entry or "partitions" in words:
        return []
    receives = [("source", "recvtag" if "recvtag" in words else "tag")] if "source" in words else []
    sends = [("dest", "sendtag" if "sendtag" in words else "tag")] if "dest" in words else []
    if "prepares" in entry:
        return [f"probe_prepared_message(*request, {int(bool(sends))}, communicator, {peer}, {tag})"
                for peer, tag in sends + receives]  # fmt: skip
    out = [f"probe_sent(communicator, {peer}, {tag}, begin)" for peer, tag in sends]
    if _exchanges(words, starts):
        out += ["probe_exchanged(communicator, source, recvtag, entry, begin, end)"]
    elif receives and starts and not sends:
        out += ["probe_expects(*request, communicator, source, tag, entry)"]
    elif receives and "message" in words:
        out += [f"{'*flag ? ' if 'flag' in words else ''}probe_received(communicator, source, tag, NULL)"]
        out[-1] += " : 0" if "flag" in words else ""
    elif receives and ("buf" in words or "recvbuf" in words):
        out += [f"probe_received(communicator, source, {receives[0][1]}, NULL)"]
    return out


def _charge(how: str, words: list[str]) -> str:
    """The statement that charges the requests that have ended: their number (-1 for all), and their places."""
    flag = "*flag && " if "flag" in words else ""
    ended, which = {
        "all": ("-1", "NULL"),
        "flag": ("*flag ? -1 : 0", "NULL"),
        "index": (f"{flag}*index != MPI_UNDEFINED", "index"),
        "outcount": ("*outcount == MPI_UNDEFINED ? 0 : *outcount", "indices"),
    }[how]
    ended = f"error != MPI_SUCCESS ? 0 : {ended}"
    return f"probe_charge(&waits, {_requests(words)}, {ended}, {which}, begin, end, entry);"


def _made(entry: Entry) -> str:
    how = entry.get("creates")
    if how == "idup":
        return "if (*newcomm != former) probe_duplicated(communicator, *newcomm)"
    if how == "parent":
        return "probe_found_parent(*newcomm)"
    if how and "stringtag" in entry["arguments"]:
        groups = "local_group, &remote_group" if "remote_group" in entry["arguments"] else "group, NULL"
        return f'probe_created_of_group(*newcomm, "{how}", stringtag, {groups})'
    if how == "create_group":
        return "probe_created_group(communicator, comm, group, tag, *newcomm)"
    if how == "inter":
        return "probe_created_between(communicator, *newcomm)"
    if how:
        return f'probe_created(communicator, *newcomm, "{how}", {entry.get("colour", "-1")})'
    return {
        "": "",
        "win": "probe_made_window(communicator, *win)",
        "file": "probe_opened(communicator, *fh, filename, info)",
    }[entry.get("makes", "")]


def _bytes(entry: Entry) -> str:
    group = "probe_local_group" if "over_group" in entry else "probe_group"
    size = "probe_neighbours(communicator, comm)" if "over" in entry else f"{group}(communicator)"
    amount = _amount(entry.get("bytes", ""), size)
    if "in_place" in entry:
        buffer = entry.get("in_place_of", "sendbuf")
        amount = f"{buffer} == MPI_IN_PLACE ? {_amount(entry['in_place'], size)} : {amount}"
    # With an intercommunicator, some ranks give neither counts nor types.
    if (peer := entry.get("peer", "")) in ("dest", "source", "target_rank", "root") and amount != "0":
        nothing = f"{peer} == MPI_PROC_NULL"
        if entry.get("root_alone") == "nothing":
            nothing = f"({nothing} || {peer} == MPI_ROOT)"
        amount = f"{nothing} ? 0 : {amount}"
    return amount


def _amount(product: str, size: str) -> str:
    """A product such as ``count * datatype`` in C."""
    if not product:
        return "0"
    if inner := re.fullmatch(r"sum\((\w+) \* (\w+)\)", product):
        return f"probe_typed_sum({inner[1]}, {inner[2]}, {size})"
    *counts, datatype = product.split(" * ")
    factors = [f"probe_size_of({datatype})"]
    for count in counts:
        if count == "size":
            factors.append(f"probe_number({size})")
        elif inner := re.fullmatch(r"sum\((\w+)\)", count):
            factors.append(f"probe_sum({inner[1]}, {size})")
        elif inner := re.fullmatch(r"(\w+)\[rank\]", count):
            factors.append(f"(uint64_t){inner[1]}[probe_group_rank(communicator)]")
        else:
            factors.append(f"(uint64_t){count}")
    return " * ".join(factors)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
