"""Calls every function of a profile that mpi4py has. It knows its own traffic, as the programs in C."""

from collections import defaultdict
from pathlib import Path

import numpy as np
from mpi4py import MPI

WORLD, NOTHING = MPI.COMM_WORLD, MPI.INFO_NULL
RANK, SIZE = WORLD.rank, WORLD.size
NEXT, LAST = (RANK + 1) % SIZE, (RANK + SIZE - 1) % SIZE
EACH, ROOM = 2, 64
BYTES, ONE = 8 * EACH, 8
LIBRARY = MPI.Get_library_version()
IS_OPEN_MPI = LIBRARY.startswith("Open MPI")

there, back, memory = np.ones(ROOM), np.zeros(ROOM), np.zeros(ROOM)
few, received = there[:EACH], back[:EACH]
expected = defaultdict(lambda: [0, 0])


def expect(function, group="", amount=0, calls=1):
    expected[function, group][0] += calls
    expected[function, group][1] += amount


def call(function, group, amount, do, *words, **named):
    """None if the MPI lacks the function."""
    try:
        result = do(*words, **named)
    except NotImplementedError:
        return None
    expect(f"MPI_{function}", group, amount)
    return result


def wait(request):
    if request is not None:
        request.Wait()
        expect("MPI_Wait")


def run(function, group, amount, request):
    """Starts a persistent request once, and frees it."""
    if request is None:
        return
    request.Start()
    request.Wait()
    request.Free()
    expect(f"MPI_{function} started", group, amount)
    for one in ("MPI_Start", "MPI_Wait", "MPI_Request_free"):
        expect(one)


def expecting(tag):
    """A receive that is ready before the message comes."""
    request = call("Irecv", "world", BYTES, WORLD.Irecv, received, LAST, tag)
    call("Barrier", "world", 0, WORLD.Barrier)
    return request


def send_in_every_way():
    for tag, way in enumerate(("Send", "Ssend", "Bsend", "Rsend")):
        request = expecting(tag)
        call(way, "world", BYTES, getattr(WORLD, way), few, NEXT, tag)
        wait(request)
        request = expecting(tag)
        wait(call(f"I{way.lower()}", "world", BYTES, getattr(WORLD, f"I{way.lower()}"), few, NEXT, tag))
        wait(request)
        request = expecting(tag)
        prepared = call(f"{way}_init", "world", 0, getattr(WORLD, f"{way}_init"), few, NEXT, tag)
        run(f"{way}_init", "world", BYTES, prepared)
        wait(request)
    request = call("Isend", "world", BYTES, WORLD.Isend, few, NEXT, 9)
    call("Recv", "world", BYTES, WORLD.Recv, received, LAST, 9)
    wait(request)
    call("Sendrecv", "world", BYTES, WORLD.Sendrecv, few, NEXT, 0, received, LAST, 0)
    call("Sendrecv_replace", "world", BYTES, WORLD.Sendrecv_replace, received, NEXT, 0, LAST, 0)
    wait(call("Isendrecv", "world", BYTES, WORLD.Isendrecv, few, NEXT, 0, received, LAST, 0))
    wait(call("Isendrecv_replace", "world", BYTES, WORLD.Isendrecv_replace, received, NEXT, 0, LAST, 0))


def look_first():
    request = call("Isend", "world", BYTES, WORLD.Isend, few, NEXT, 1)
    call("Probe", "world", 0, WORLD.Probe, LAST, 1)
    while not call("Iprobe", "world", 0, WORLD.Iprobe, MPI.ANY_SOURCE, 1):
        pass
    call("Mrecv", "", BYTES, call("Mprobe", "world", 0, WORLD.Mprobe, LAST, 1).Recv, received)
    wait(request)
    request = call("Isend", "world", BYTES, WORLD.Isend, few, NEXT, 1)
    while (message := call("Improbe", "world", 0, WORLD.Improbe, LAST, 1)) is None:
        pass
    wait(call("Imrecv", "", BYTES, message.Irecv, received))
    wait(request)


def complete_in_every_way():
    sender = call("Send_init", "world", 0, WORLD.Send_init, few, NEXT, 2)
    receiver = call("Recv_init", "world", 0, WORLD.Recv_init, received, LAST, 2)
    both = [sender, receiver]
    for way in ("all", "any", "some"):
        call("Startall", "", 0, MPI.Prequest.Startall, both)
        expect("MPI_Send_init started", "world", BYTES)
        expect("MPI_Recv_init started", "world", BYTES)
        done = 0
        while done < 2:
            ended = call(f"Wait{way}", "", 0, getattr(MPI.Request, f"Wait{way}"), both)
            done += {"all": 2, "any": 1}.get(way) or len(ended)
        call("Testall", "", 0, MPI.Request.Testall, both)
        call("Testany", "", 0, MPI.Request.Testany, both)
        call("Testsome", "", 0, MPI.Request.Testsome, both)
    for request in both:
        call("Request_free", "", 0, request.Free)
    request = call("Irecv", "world", BYTES, WORLD.Irecv, received, LAST, 3)
    wait(call("Isend", "world", BYTES, WORLD.Isend, few, NEXT, 3))
    while not call("Request_get_status", "", 0, request.Get_status):
        pass
    call("Test", "", 0, request.Test)
    request = call("Irecv", "world", BYTES, WORLD.Irecv, received, LAST, 4)
    call("Cancel", "", 0, request.Cancel)
    wait(request)
    request = call("Grequest_start", "", 0, MPI.Grequest.Start)
    call("Grequest_complete", "", 0, request.Complete)
    wait(request)


def send_parts():
    buffer = [there, EACH, MPI.DOUBLE]
    sender = call("Psend_init", "world", 0, WORLD.Psend_init, buffer, 3, NEXT, 5)
    receiver = call("Precv_init", "world", 0, WORLD.Precv_init, [back, EACH, MPI.DOUBLE], 3, LAST, 5)
    if sender is None or receiver is None:
        return
    call("Startall", "", 0, MPI.Prequest.Startall, [sender, receiver])
    call("Pready", "", 0, sender.Pready, 2)
    call("Pready_list", "", 0, sender.Pready_list, [1])
    call("Pready_range", "", 0, sender.Pready_range, 0, 0)
    while not call("Parrived", "", 0, receiver.Parrived, 2):
        pass
    expect("MPI_Psend_init started", "world", 3 * BYTES)
    expect("MPI_Precv_init started", "world", 3 * BYTES)
    for request in (sender, receiver):
        wait(request)
        call("Request_free", "", 0, request.Free)


def every(function, comm, group, amount, *words):
    """The blocking, nonblocking and persistent function."""
    call(function, group, amount, getattr(comm, function), *words)
    wait(call(f"I{function.lower()}", group, amount, getattr(comm, f"I{function.lower()}"), *words))
    run(
        f"{function}_init", group, amount, call(f"{function}_init", group, 0, getattr(comm, f"{function}_init"), *words)
    )


def collect(comm, group):
    counts = [k + 1 for k in range(SIZE)]
    places = [k * (k + 1) // 2 for k in range(SIZE)]
    mine, all_of, total = there[: RANK + 1], there[: EACH * SIZE], sum(counts)
    back_of = back[: EACH * SIZE]
    equal = [RANK + 1] * SIZE
    types, far = [MPI.DOUBLE] * SIZE, [8 * place for place in places]
    every("Barrier", comm, group, 0)
    every("Bcast", comm, group, BYTES, few, SIZE - 1)
    every("Reduce", comm, group, BYTES, few, received, MPI.SUM, 0)
    for function in ("Allreduce", "Scan", "Exscan"):
        every(function, comm, group, BYTES, few, received, MPI.SUM)
    every("Gather", comm, group, BYTES, few, back_of, 0)
    every("Gatherv", comm, group, ONE * (RANK + 1), mine, [back, counts, places, MPI.DOUBLE], 0)
    every("Scatter", comm, group, BYTES, all_of, received, 0)
    every("Scatterv", comm, group, ONE * (RANK + 1), [there, counts, places, MPI.DOUBLE], back[: RANK + 1], 0)
    every("Allgather", comm, group, BYTES, few, back_of)
    every("Allgatherv", comm, group, ONE * (RANK + 1), mine, [back, counts, places, MPI.DOUBLE])
    every("Alltoall", comm, group, SIZE * BYTES, all_of, back_of)
    sent, got = [there, equal, places, MPI.DOUBLE], [back, counts, places, MPI.DOUBLE]
    every("Alltoallv", comm, group, SIZE * (RANK + 1) * ONE, sent, got)
    sent, got = [there, equal, far, types], [back, counts, far, types]
    every("Alltoallw", comm, group, SIZE * (RANK + 1) * ONE, sent, got)
    every("Reduce_scatter", comm, group, total * ONE, there[:total], back[: RANK + 1], counts, MPI.SUM)
    every("Reduce_scatter_block", comm, group, SIZE * BYTES, all_of, received, MPI.SUM)


def ask_neighbours():
    """In a ring: each rank has two sides."""
    ring = call("Cart_create", "world", 0, WORLD.Create_cart, [SIZE], [True])
    group, ones, types = "world/cart 1", [1, 1], [MPI.DOUBLE] * 2
    every("Neighbor_allgather", ring, group, BYTES, few, back[: 2 * EACH])
    every("Neighbor_allgatherv", ring, group, ONE, there[:1], [back, ones, [0, 1], MPI.DOUBLE])
    every("Neighbor_alltoall", ring, group, 2 * BYTES, there[: 2 * EACH], back[: 2 * EACH])
    sent, got = ([data, ones, [0, 1], MPI.DOUBLE] for data in (there, back))
    every("Neighbor_alltoallv", ring, group, 2 * ONE, sent, got)
    sent, got = ([data, ones, [0, 8], types] for data in (there, back))
    every("Neighbor_alltoallw", ring, group, 2 * ONE, sent, got)
    use(call("Cart_sub", group, 0, ring.Sub, [True]), f"{group}/cart_sub 1")
    use(ring, group)


def use(comm, group):
    if comm is not None:
        call("Barrier", group, 0, comm.Barrier)
        call("Comm_free", group, 0, comm.Free)


def make_communicators():
    everybody, info = WORLD.Get_group(), MPI.Info.Create()
    first = everybody.Incl([0])
    use(call("Comm_dup", "world", 0, WORLD.Dup), "world/dup 1")
    use(call("Comm_dup_with_info", "world", 0, WORLD.Dup_with_info, info), "world/dup 2")
    use(call("Comm_split_type", "world", 0, WORLD.Split_type, MPI.COMM_TYPE_SHARED), "world/split_type 1")
    use(call("Comm_create", "world", 0, WORLD.Create, everybody), "world/create 1")
    if RANK == 0:
        made = call("Comm_create_group", "world", 0, WORLD.Create_group, first, 4)
        use(made, "world/create_group 1 tag 4 ranks 0")
    index, edges = [k + 1 for k in range(SIZE)], [(k + 1) % SIZE for k in range(SIZE)]
    use(call("Graph_create", "world", 0, WORLD.Create_graph, index, edges), "world/graph 1")
    made = call("Dist_graph_create", "world", 0, WORLD.Create_dist_graph, [RANK], [1], [NEXT])
    use(made, "world/dist_graph 1")
    made = call("Dist_graph_create_adjacent", "world", 0, WORLD.Create_dist_graph_adjacent, [LAST], [NEXT])
    use(made, "world/dist_graph 2")
    ways = {"Idup": (), "Idup_with_info": (info,)}
    if LIBRARY.startswith("Open MPI v4"):  # mpi4py calls MPI_Comm_idup instead
        ways.pop("Idup_with_info")
    for number, (function, words) in enumerate(ways.items(), 1):
        made, request = call(f"Comm_{function.lower()}", "world", 0, getattr(WORLD, function), *words)
        wait(request)
        use(made, f"world/idup {number}")
    call("Comm_set_info", "world", 0, WORLD.Set_info, info)
    call("Comm_get_parent", "", 0, MPI.Comm.Get_parent)
    if IS_OPEN_MPI:  # MPICH over UCX, as Debian has it, opens no ports
        port = call("Open_port", "", 0, MPI.Open_port)
        call("Close_port", "", 0, MPI.Close_port, port)


def join_halves():
    """For two ranks."""
    group, between = f"world/split 1 colour {RANK}", "inter 1 ranks 0|1"
    half = call("Comm_split", "world", 0, WORLD.Split, RANK)
    inter = call("Intercomm_create", group, 0, half.Create_intercomm, 0, WORLD, 1 - RANK)
    use(call("Intercomm_merge", between, 0, inter.Merge), f"{between}/merge 1")
    call("Comm_disconnect", between, 0, inter.Disconnect)
    call("Comm_free", group, 0, half.Free)


def begin_a_session():
    try:
        session = MPI.Session.Init()
    except NotImplementedError:
        return
    group = session.Create_group("mpi://WORLD")
    use(call("Comm_create_from_group", "", 0, MPI.Intracomm.Create_from_group, group, "all"), "from_group all")
    sides = group.Incl([0]), group.Incl([1])
    words = sides[RANK], 0, sides[1 - RANK], 0, "two"
    made = call("Intercomm_create_from_groups", "", 0, MPI.Intercomm.Create_from_groups, *words)
    use(made, "from_groups two")
    for each in (*sides, group):
        each.Free()
    session.Finalize()


def use_windows():
    window, of = call("Win_create", "world", 0, MPI.Win.Create, memory, 8, NOTHING, WORLD), "world/window 1"
    call("Win_fence", of, 0, window.Fence)
    call("Put", of, BYTES, window.Put, few, NEXT)
    call("Win_fence", of, 0, window.Fence)
    call("Get", of, BYTES, window.Get, received, NEXT)
    call("Win_fence", of, 0, window.Fence)
    call("Accumulate", of, BYTES, window.Accumulate, few, NEXT)
    call("Win_fence", of, 0, window.Fence)
    call("Get_accumulate", of, BYTES, window.Get_accumulate, few, received, NEXT)
    call("Win_fence", of, 0, window.Fence)
    everybody = WORLD.Get_group()
    for way in ("Wait", "Test"):
        call("Win_post", of, 0, window.Post, everybody.Incl([LAST]))
        call("Win_start", of, 0, window.Start, everybody.Incl([NEXT]))
        call("Win_complete", of, 0, window.Complete)
        while call(f"Win_{way.lower()}", of, 0, getattr(window, way)) is False:
            pass
    one, other, result = np.ones(1, "i"), np.ones(1, "i"), np.ones(1, "i")
    call("Win_lock", of, 0, window.Lock, NEXT, MPI.LOCK_SHARED)
    call("Fetch_and_op", of, 4, window.Fetch_and_op, one, result, NEXT)
    call("Win_flush", of, 0, window.Flush, NEXT)
    call("Compare_and_swap", of, 4, window.Compare_and_swap, one, other, result, NEXT)
    call("Win_flush_local", of, 0, window.Flush_local, NEXT)
    call("Win_unlock", of, 0, window.Unlock, NEXT)
    call("Win_lock_all", of, 0, window.Lock_all)
    wait(call("Rput", of, BYTES, window.Rput, few, NEXT))
    wait(call("Rget", of, BYTES, window.Rget, received, NEXT))
    wait(call("Raccumulate", of, BYTES, window.Raccumulate, few, NEXT))
    wait(call("Rget_accumulate", of, BYTES, window.Rget_accumulate, few, received, NEXT))
    for function in ("Flush_all", "Flush_local_all", "Sync", "Unlock_all"):
        call(f"Win_{function.lower()}", of, 0, getattr(window, function))
    call("Win_free", of, 0, window.Free)
    make_windows()


def make_windows():
    allocated = call("Win_allocate", "world", 0, MPI.Win.Allocate, 64, 1, NOTHING, WORLD)
    shared = call("Win_allocate_shared", "world", 0, MPI.Win.Allocate_shared, 64, 1, NOTHING, WORLD)
    dynamic = call("Win_create_dynamic", "world", 0, MPI.Win.Create_dynamic, NOTHING, WORLD)
    call("Win_attach", "world/window 4", 0, dynamic.Attach, memory)
    call("Win_detach", "world/window 4", 0, dynamic.Detach, memory)
    call("Win_set_info", "world/window 2", 0, allocated.Set_info, MPI.Info.Create())
    for number, window in enumerate((allocated, shared, dynamic), 2):
        call("Win_free", f"world/window {number}", 0, window.Free)


def use_file():
    of = "world/file data.bin"
    words = WORLD, "data.bin", MPI.MODE_CREATE | MPI.MODE_RDWR
    file = call("File_open", "world", 0, MPI.File.Open, *words)
    call("File_set_view", of, 0, file.Set_view)
    call("File_set_info", of, 0, file.Set_info, MPI.Info.Create())
    call("File_set_atomicity", of, 0, file.Set_atomicity, False)
    call("File_set_size", of, 0, file.Set_size, 4096)
    call("File_preallocate", of, 0, file.Preallocate, 8192)
    call("File_get_size", of, 0, file.Get_size)
    call("File_seek", of, 0, file.Seek, 0)
    call("File_get_position_shared", of, 0, file.Get_position_shared)
    call("File_seek_shared", of, 0, file.Seek_shared, 0)
    for word, buffer in (("Write", few), ("Read", received)):
        for way in ("", "_at", "_all", "_at_all", "_shared", "_ordered"):
            place = (RANK * BYTES,) if "_at" in way else ()
            call(f"File_{word.lower()}{way}", of, BYTES, getattr(file, word + way), *place, buffer)
            if way != "_ordered":
                name = f"I{word.lower()}{way}"
                wait(call(f"File_{name.lower()}", of, BYTES, getattr(file, name), *place, buffer))
            if way in ("_all", "_at_all", "_ordered"):
                name = f"{word.lower()}{way}"
                call(f"File_{name}_begin", of, BYTES, getattr(file, f"{word}{way}_begin"), *place, buffer)
                call(f"File_{name}_end", of, 0, getattr(file, f"{word}{way}_end"), buffer)
    call("File_sync", of, 0, file.Sync)
    call("File_close", of, 0, file.Close)
    if RANK == 0:
        call("File_delete", "", 0, MPI.File.Delete, "data.bin")


def empty_buffers():
    call("Buffer_flush", "", 0, MPI.Flush_buffer)
    wait(call("Buffer_iflush", "", 0, MPI.Iflush_buffer))
    call("Buffer_detach", "", 0, MPI.Detach_buffer)


MPI.Attach_buffer(np.zeros(1 << 12))
send_in_every_way()
look_first()
complete_in_every_way()
send_parts()
collect(WORLD, "world")
ask_neighbours()
make_communicators()
join_halves()
begin_a_session()
use_windows()
use_file()
empty_buffers()
with Path(f"expected.{RANK}").open("w") as file:
    for (function, group), (calls, amount) in expected.items():
        file.write(f"{function}\t{group}\t{calls}\t{amount}\n")
