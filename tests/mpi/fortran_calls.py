"""Writes a program in Fortran that calls every function of a profile, and says what the profile should count.

The program is for two ranks. No call sends more on one of them than on the other.
"""

import re
from collections import Counter
from collections.abc import Iterable

BYTES, ONE = 16, 8
_WORDS = {
    "W": "MPI_COMM_WORLD",
    "D": "MPI_DOUBLE_PRECISION",
    "IGNORE": "MPI_STATUS_IGNORE",
    "IGNORE_ALL": "MPI_STATUSES_IGNORE",
    "NOTHING": "MPI_INFO_NULL",
}
_HEAD = """program main
{use}
  implicit none
{include}
  double precision, asynchronous :: there(64), back(64), memory(64)
  integer :: error, rank, next, last, n, done, indices(2), one(1), other(1), got(1), size_of_buffer
  integer :: counts(2), ones(2), places(2), far(2), edges(2), ends(2)
  integer(MPI_ADDRESS_KIND) :: zero, room, far_away(2)
  integer(MPI_OFFSET_KIND) :: place, length
  logical :: flag
  character(MPI_MAX_PORT_NAME) :: port
  {base} :: base
  {status}
  {Request} :: request, receiving, both(2)
  {Comm} :: made, ring, half, inter
  {Group} :: everybody, first, from, to
  {Win} :: window, second, third, fourth
  {File} :: file
  {Info} :: info
  {Message} :: message
  {Datatype} :: types(2)
  there = 1
  memory = 0
  zero = 0
  room = 8 * 64
  counts = 2
  ones = 1
  places = [0, 2]
  far = [0, 16]
  far_away = [0, 16]
  edges = [1, 0]
  ends = [1, 2]
  one = 1
  types = MPI_DOUBLE_PRECISION
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  next = 1 - rank
  last = 1 - rank
  one = next
  other = rank
  place = rank * 16
  call MPI_Buffer_attach(memory, 512, error)
  call MPI_Comm_group(MPI_COMM_WORLD, everybody, error)
  call MPI_Group_incl(everybody, 1, [0], first, error)
  call MPI_Group_incl(everybody, 1, [last], from, error)
  call MPI_Group_incl(everybody, 1, [next], to, error)
  call MPI_Info_create(info, error)
"""
_TAIL = """  call MPI_Finalize(error)
end program main
"""
_BINDINGS = (("", "  include 'mpif.h'"), ("  use mpi", ""), ("  use mpi_f08\n  use iso_c_binding", ""))
_HANDLES = ("Request", "Comm", "Group", "Win", "File", "Info", "Message", "Datatype")


class Program:
    """``has``: the functions that the MPI has."""

    def __init__(self, has: set[str]) -> None:
        self.has, self.lines = has, []
        self._counted: Counter[tuple[str, str]] = Counter()
        self._bytes: Counter[tuple[str, str]] = Counter()
        send_and_receive(self)
        complete(self)
        collect(self)
        make_communicators(self)
        use_windows(self)
        use_file(self)

    def text(self, binding: int) -> str:
        """``binding``: 0 for mpif.h, 1 for "use mpi", 2 for "use mpi_f08"."""
        use, include = _BINDINGS[binding]
        handles = {kind: f"type(MPI_{kind})" if binding == 2 else "integer" for kind in _HANDLES}
        base = "type(c_ptr)" if binding == 2 else "integer(MPI_ADDRESS_KIND)"
        status = "type(MPI_Status) :: status" if binding == 2 else "integer :: status(MPI_STATUS_SIZE)"
        return (
            _HEAD.format(use=use, include=include, base=base, status=status, **handles)
            + "\n".join(self.lines)
            + "\n"
            + _TAIL
        )

    def expected(self, rank: int) -> dict[tuple[str, str], tuple[int, int]]:
        """Calls and bytes of a rank."""
        return {
            (function, group.format(rank=rank)): (calls, self._bytes[function, group])
            for (function, group), calls in self._counted.items()
        }

    def expect(self, function: str, group: str = "", amount: int = 0) -> None:
        self._counted[f"MPI_{function}", group] += 1
        self._bytes[f"MPI_{function}", group] += amount

    def call(self, function: str, group: str, amount: int, words: str, condition: str = "") -> bool:
        """False if the MPI lacks the function."""
        if f"MPI_{function}" not in self.has:
            return False
        self.expect(function, group, amount)
        written = re.sub(r"\b[A-Z_]+\b", lambda found: _WORDS.get(found[0], found[0]), words)
        self.lines.append(f"  {condition}call MPI_{function}({written}, error)")
        return True

    def loop(self, function: str, words: str) -> None:
        """Until the flag is set: the number of calls is not known."""
        called = f"call MPI_{function}({words}, error)"
        self.lines += ["  flag = .false.", "  do while (.not. flag)", f"    {called}", "  end do"]

    def finish(self, request: str = "request") -> None:
        self.call("Wait", "", 0, f"{request}, IGNORE")

    def run(self, function: str, group: str, amount: int, words: str) -> None:
        """A persistent function: prepares a request, starts it once and frees it."""
        if self.call(function, group, 0, words):
            self.call("Start", "", 0, "request")
            self.finish()
            self.call("Request_free", "", 0, "request")
            self.expect(f"{function} started", group, amount)

    def every(self, function: str, group: str, amount: int, words: str) -> None:
        """Blocking, nonblocking and persistent."""
        self.call(function, group, amount, words)
        self.call(f"I{function.lower()}", group, amount, f"{words}, request")
        self.finish()
        self.run(f"{function}_init", group, amount, f"{words}, NOTHING, request")


def send_and_receive(to: Program) -> None:
    for way in ("Send", "Ssend", "Bsend", "Rsend"):
        for function in (way, f"I{way.lower()}", f"{way}_init"):
            to.call("Irecv", "world", BYTES, "back, 2, D, last, 1, W, receiving")
            to.call("Barrier", "world", 0, "W")
            words = "there, 2, D, next, 1, W"
            if function == way:
                to.call(function, "world", BYTES, words)
            elif function.startswith("I"):
                to.call(function, "world", BYTES, f"{words}, request")
                to.finish()
            else:
                to.run(function, "world", BYTES, f"{words}, request")
            to.finish("receiving")
    to.call("Isend", "world", BYTES, "there, 2, D, next, 2, W, request")
    to.call("Recv", "world", BYTES, "back, 2, D, last, 2, W, IGNORE")
    to.finish()
    both = "there, 2, D, next, 0, back, 2, D, last, 0, W"
    to.call("Sendrecv", "world", BYTES, f"{both}, IGNORE")
    to.call("Sendrecv_replace", "world", BYTES, "back, 2, D, next, 0, last, 0, W, IGNORE")
    if to.call("Isendrecv", "world", BYTES, f"{both}, request"):
        to.finish()
    if to.call("Isendrecv_replace", "world", BYTES, "back, 2, D, next, 0, last, 0, W, request"):
        to.finish()
    for probe, receive in (("Mprobe", "Mrecv"), ("Improbe", "Imrecv")):
        to.call("Isend", "world", BYTES, "there, 2, D, next, 3, W, request")
        to.call("Probe", "world", 0, "last, 3, W, IGNORE")
        to.call("Iprobe", "world", 0, "last, 3, W, flag, IGNORE")
        flag = "" if probe == "Mprobe" else "flag, "
        to.call(probe, "world", 0, f"last, 3, W, {flag}message, IGNORE")
        to.call(receive, "", BYTES, f"back, 2, D, message, {'IGNORE' if receive == 'Mrecv' else 'receiving'}")
        to.finish()
    to.finish("receiving")


def complete(to: Program) -> None:
    to.call("Send_init", "world", 0, "there, 2, D, next, 4, W, both(1)")
    to.call("Recv_init", "world", 0, "back, 2, D, last, 4, W, both(2)")
    ways = ["2, both, IGNORE_ALL", "2, both, n, IGNORE", "2, both, n, IGNORE", "2, both, done, indices, IGNORE_ALL"]
    for functions in (["Waitall"], ["Waitany", "Waitany"], ["Waitsome", "Waitall"]):
        to.call("Startall", "", 0, "2, both")
        for function in functions:
            to.call(function, "", 0, ways[("Waitall", "Waitany", "", "Waitsome").index(function)])
        for function in ("Send_init started", "Recv_init started"):
            to.expect(function, "world", BYTES)
    to.call("Testall", "", 0, "2, both, flag, IGNORE_ALL")
    to.call("Testany", "", 0, "2, both, n, flag, IGNORE")
    to.call("Testsome", "", 0, "2, both, done, indices, IGNORE_ALL")
    for k in (1, 2):
        to.call("Request_free", "", 0, f"both({k})")
    to.call("Irecv", "world", BYTES, "back, 2, D, last, 5, W, request")
    to.call("Send", "world", BYTES, "there, 2, D, next, 5, W")
    to.call("Request_get_status", "", 0, "request, flag, status")  # Open MPI ignores it with MPI_STATUS_IGNORE
    to.finish()
    to.call("Test", "", 0, "request, flag, IGNORE")
    to.call("Irecv", "world", BYTES, "back, 2, D, last, 6, W, request")
    to.call("Cancel", "", 0, "request")
    to.finish()
    to.call("Buffer_detach", "", 0, "base, size_of_buffer")


def collect(to: Program) -> None:
    w = "world"
    to.every("Barrier", w, 0, "W")
    to.every("Bcast", w, BYTES, "there, 2, D, 1, W")
    to.every("Reduce", w, BYTES, "there, back, 2, D, MPI_SUM, 0, W")
    for function in ("Allreduce", "Scan", "Exscan"):
        to.every(function, w, BYTES, "there, back, 2, D, MPI_SUM, W")
    to.every("Gather", w, BYTES, "there, 2, D, back, 2, D, 0, W")
    to.every("Gatherv", w, BYTES, "there, 2, D, back, counts, places, D, 0, W")
    to.every("Scatter", w, BYTES, "there, 2, D, back, 2, D, 0, W")
    to.every("Scatterv", w, BYTES, "there, counts, places, D, back, 2, D, 0, W")
    to.every("Allgather", w, BYTES, "there, 2, D, back, 2, D, W")
    to.every("Allgatherv", w, BYTES, "there, 2, D, back, counts, places, D, W")
    to.every("Alltoall", w, 2 * BYTES, "there, 2, D, back, 2, D, W")
    to.every("Alltoallv", w, 2 * BYTES, "there, counts, places, D, back, counts, places, D, W")
    to.every("Alltoallw", w, 2 * BYTES, "there, counts, far, types, back, counts, far, types, W")
    to.every("Reduce_scatter", w, 2 * BYTES, "there, back, counts, D, MPI_SUM, W")
    to.every("Reduce_scatter_block", w, 2 * BYTES, "there, back, 2, D, MPI_SUM, W")
    to.call("Cart_create", w, 0, "W, 1, [2], [.true.], .false., ring")
    of = "world/cart 1"
    to.every("Neighbor_allgather", of, BYTES, "there, 2, D, back, 2, D, ring")
    to.every("Neighbor_allgatherv", of, BYTES, "there, 2, D, back, counts, places, D, ring")
    to.every("Neighbor_alltoall", of, 2 * BYTES, "there, 2, D, back, 2, D, ring")
    to.every("Neighbor_alltoallv", of, 2 * ONE, "there, ones, places, D, back, ones, places, D, ring")
    to.call("Cart_sub", of, 0, "ring, [.true.], made")
    use(to, "made", f"{of}/cart_sub 1")
    to.call("Comm_free", of, 0, "ring")
    # On a grid, mpi_f08 of MPICH 4.0 asks for the neighbours in a graph, and fails.
    words = "W, 1, one, MPI_UNWEIGHTED, 1, one, MPI_UNWEIGHTED, NOTHING, .false., ring"
    to.call("Dist_graph_create_adjacent", w, 0, words)
    of = "world/dist_graph 1"
    to.every("Neighbor_alltoallw", of, ONE, "there, ones, far_away, types, back, ones, far_away, types, ring")
    to.call("Comm_free", of, 0, "ring")


def use(to: Program, comm: str, group: str) -> None:
    to.call("Barrier", group, 0, comm)
    to.call("Comm_free", group, 0, comm)


def make_communicators(to: Program) -> None:
    makers = [
        ("Comm_dup", "W, made", "dup 1"),
        ("Comm_dup_with_info", "W, info, made", "dup 2"),
        ("Comm_split", "W, 3, 0, made", "split 1 colour 3"),
        ("Comm_split_type", "W, MPI_COMM_TYPE_SHARED, 0, NOTHING, made", "split_type 1"),
        ("Comm_create", "W, everybody, made", "create 1"),
        ("Comm_create_group", "W, everybody, 4, made", "create_group 1 tag 4 ranks 0-1"),
        ("Graph_create", "W, 2, ends, edges, .false., made", "graph 1"),
        ("Dist_graph_create", "W, 1, other, ones, one, MPI_UNWEIGHTED, NOTHING, .false., made", "dist_graph 2"),
    ]
    for function, words, name in makers:
        to.call(function, "world", 0, words)
        use(to, "made", f"world/{name}")
    for number, words in enumerate(("W, made, request", "W, info, made, request"), 1):
        if to.call(f"Comm_idup{'_with_info' if number == 2 else ''}", "world", 0, words):
            to.finish()
            use(to, "made", f"world/idup {number}")
    to.call("Comm_set_info", "world", 0, "W, info")
    to.call("Comm_get_parent", "", 0, "made")
    to.call("Comm_split", "world", 0, "W, rank, 0, half")
    to.call("Intercomm_create", "world/split 2 colour {rank}", 0, "half, 0, W, next, 0, inter")
    to.call("Intercomm_merge", "inter 1 ranks 0|1", 0, "inter, .false., made")
    use(to, "made", "inter 1 ranks 0|1/merge 1")
    to.call("Comm_disconnect", "inter 1 ranks 0|1", 0, "inter")
    to.call("Comm_free", "world/split 2 colour {rank}", 0, "half")


def use_windows(to: Program) -> None:
    of, data = "world/window 1", "there, 2, D, next, zero, 2, D"
    result = "there, 2, D, back, 2, D, next, zero, 2, D"
    to.call("Win_create", "world", 0, "memory, room, 8, NOTHING, W, window")
    for function, words in (
        ("Put", f"{data}, window"),
        ("Get", f"{data}, window".replace("there", "back")),
        ("Accumulate", f"{data}, MPI_SUM, window"),
        ("Get_accumulate", f"{result}, MPI_SUM, window"),
    ):
        to.call("Win_fence", of, 0, "0, window")
        to.call(function, of, BYTES, words)
        to.call("Win_fence", of, 0, "0, window")
    for way in ("wait", "test"):
        to.call("Win_post", of, 0, "from, 0, window")
        to.call("Win_start", of, 0, "to, 0, window")
        to.call("Win_complete", of, 0, "window")
        if way == "wait":
            to.call("Win_wait", of, 0, "window")
        else:
            to.loop("Win_test", "window, flag")
    to.call("Win_lock", of, 0, "MPI_LOCK_SHARED, next, 0, window")
    to.call("Fetch_and_op", of, 4, "one, got, MPI_INTEGER, next, zero, MPI_SUM, window")
    to.call("Win_flush", of, 0, "next, window")
    to.call("Compare_and_swap", of, 4, "one, other, got, MPI_INTEGER, next, zero, window")
    to.call("Win_flush_local", of, 0, "next, window")
    to.call("Win_unlock", of, 0, "next, window")
    to.call("Win_lock_all", of, 0, "0, window")
    for function, words in (
        ("Rput", f"{data}, window, request"),
        ("Rget", f"{data}, window, request".replace("there", "back")),
        ("Raccumulate", f"{data}, MPI_SUM, window, request"),
        ("Rget_accumulate", f"{result}, MPI_SUM, window, request"),
    ):
        to.call(function, of, BYTES, words)
        to.finish()
    for function in ("Win_flush_all", "Win_flush_local_all", "Win_sync", "Win_unlock_all", "Win_free"):
        to.call(function, of, 0, "window")
    to.call("Win_allocate", "world", 0, "room, 8, NOTHING, W, base, second")
    to.call("Win_allocate_shared", "world", 0, "room, 8, NOTHING, W, base, third")
    to.call("Win_create_dynamic", "world", 0, "NOTHING, W, fourth")
    to.call("Win_attach", "world/window 4", 0, "fourth, memory, room")
    to.call("Win_detach", "world/window 4", 0, "fourth, memory")
    to.call("Win_set_info", "world/window 2", 0, "second, info")
    for number, window in enumerate(("second", "third", "fourth"), 2):
        to.call("Win_free", f"world/window {number}", 0, window)


def use_file(to: Program) -> None:
    of = "world/file data.bin"
    to.lines += ["  length = 4096"]
    to.call("File_open", "world", 0, "W, 'data.bin', MPI_MODE_CREATE + MPI_MODE_RDWR, NOTHING, file")
    manage: Iterable[tuple[str, str]] = (
        ("set_view", "file, int(0, MPI_OFFSET_KIND), MPI_BYTE, MPI_BYTE, 'native', NOTHING"),
        ("set_info", "file, info"),
        ("set_atomicity", "file, .false."),
        ("set_size", "file, length"),
        ("preallocate", "file, length"),
        ("get_size", "file, length"),
        ("seek", "file, int(0, MPI_OFFSET_KIND), MPI_SEEK_SET"),
        ("get_position_shared", "file, length"),
        ("seek_shared", "file, int(0, MPI_OFFSET_KIND), MPI_SEEK_SET"),
    )
    for function, words in manage:
        to.call(f"File_{function}", of, 0, words)
    for kind, buffer in (("write", "there"), ("read", "back")):
        for way in ("", "_at", "_all", "_at_all", "_shared", "_ordered"):
            at = "file, place" if "_at" in way else "file"
            to.call(f"File_{kind}{way}", of, BYTES, f"{at}, {buffer}, 2, D, IGNORE")
            if way != "_ordered":
                to.call(f"File_i{kind}{way}", of, BYTES, f"{at}, {buffer}, 2, D, request")
                to.finish()
            if way in ("_all", "_at_all", "_ordered"):
                to.call(f"File_{kind}{way}_begin", of, BYTES, f"{at}, {buffer}, 2, D")
                to.call(f"File_{kind}{way}_end", of, 0, f"file, {buffer}, IGNORE")
    to.call("File_sync", of, 0, "file")
    to.call("File_close", of, 0, "file")
    to.call("Barrier", "world", 0, "W")
    to.lines += ["  if (rank == 0) call MPI_File_delete('data.bin', MPI_INFO_NULL, error)"]
