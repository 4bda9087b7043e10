"""The slot's loop for an Executor: every item has the number of its function and the arguments.

A function comes with the first items; a slot that does not have it, or no longer, asks for it.
``study/source/executor_source.hpp`` documents an item's payload. An answer's payload is one byte and a pickle:
RETURNED and the value; RAISED and the exception with its traceback as text; WANTS_FUNCTION and nothing. After APART
come the sizes of a pickle and of its buffers, then these, each at a multiple of 16 bytes.
"""

import pickle
import struct
from collections import OrderedDict

from culmen.slot import output, program, protocol
from culmen.slot.failure import describe, sentence
from culmen.slot.target import importing

RETURNED, RAISED, WANTS_FUNCTION, APART = 0, 1, 2, 3
LARGEST_RESULT_BYTES = (1 << 30) - 4096  # the size of a mailbox's frame
_KEPT_FUNCTIONS = 64
_KEPT_BYTES = 256 << 20
_SEARCHED_BYTES = 1 << 20  # arguments up to this size may bring functions that a pool inside the call needs
_APART_BYTES = 1 << 20  # buffers of this size are sent from where they are
_ALIGNED = 16
_JOINED_BYTES = 64 << 10  # up to this size, one copy is cheaper than two writes

_ITEM = struct.Struct("<IBQQQQQ")  # attempt; version, id, zero doubles; bytes of payload; function, bytes of its pickle
# Length; attempt, id, size of the log; version, status, duration, value, no residuals; no extras, message, values;
# violation; bytes of payload; kind.
_ANSWER = struct.Struct("<QIQQBBddQIQQdQB")
_FIXED_BYTES = _ANSWER.size - 8


class RemoteTraceback(Exception):
    """The traceback of an exception that was raised in another process; its ``__cause__``."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return f'\n"""\n{self.text}"""'


class UnsendableError(Exception):
    """The result of an item cannot be sent back."""


class Functions:
    """Recently received functions, by number."""

    def __init__(self):
        self._known = OrderedDict()
        self._bytes = 0

    def get(self, number, pickled):
        """None if the function must be sent. Exceptions of unpickling are passed on."""
        if number in self._known:
            self._known.move_to_end(number)
        elif pickled:
            with importing("the function's module"):
                loaded = self._known[number] = program.load(pickled)
            self._bytes += loaded.size
            while len(self._known) > 1 and (len(self._known) > _KEPT_FUNCTIONS or self._bytes > _KEPT_BYTES):
                self._bytes -= self._known.popitem(last=False)[1].size
        found = self._known.get(number)
        if found is None:
            return None
        program.offer(found.names)
        return found.thing


def serve(channel, process, initialize):
    try:
        initialize()
    except BaseException as error:
        process.end_copy(error)
        return channel.send(f"the initializer failed: {describe(error)}".encode(errors="replace"))
    process.end_copy()
    program.keep()
    channel.send(b"")
    functions = Functions()
    while (request := channel.receive()) is not None:
        kind, parts = answer(request, functions, process)
        output.flush()
        attempt, _version, number, *_ = _ITEM.unpack_from(request)
        size = sum(map(len, parts))
        head = _ANSWER.pack(
            _FIXED_BYTES + size, attempt, number, output.log_size(), protocol.OUTCOME_VERSION, protocol.OK,
            0.0, 0.0, 0, 0, 0, 0, 0.0, 1 + size, kind,
        )  # fmt: skip
        if size <= _JOINED_BYTES:
            channel.write(b"".join((head, *parts)))
        else:
            for part in (head, *parts):
                channel.write(part)
        del parts
    return None


def answer(request, functions, process):
    """(kind, parts of the bytes after it)"""
    *_, number, size = _ITEM.unpack_from(request)
    arguments_at = _ITEM.size + size
    try:
        function = functions.get(number, request[_ITEM.size : arguments_at])
        if function is None:
            return WANTS_FUNCTION, ()
        arguments, keywords = _arguments(request, arguments_at)
        result = function(*arguments, **keywords)
        del arguments, keywords, request
        process.end_copy()
        return _returned(result)
    except BaseException as error:  # SystemExit too: it is an answer and does not end this process
        process.end_copy(error)
        return RAISED, (_dump_error(error),)


def _arguments(request, at):
    if len(request) - at > _SEARCHED_BYTES:
        return pickle.loads(memoryview(request)[at:])
    found = program.load(request[at:])
    program.offer(found.names)
    return found.thing


def _returned(result):
    pickled, buffers = _dumps(result)
    if not buffers:
        _check_size(len(pickled))
        return RETURNED, (pickled,)
    pieces = [pickled, *buffers]
    sizes = struct.pack(f"<Q{len(pieces)}Q", len(pieces), *map(len, pieces))
    parts, end = [sizes], 1 + len(sizes)
    for piece in pieces:
        begin = _aligned(end)
        parts += [bytes(begin - end), piece]
        end = begin + len(piece)
    _check_size(end)
    return APART, parts


def _aligned(place):
    return -(-place // _ALIGNED) * _ALIGNED


def load_result(payload):
    """In the master: of the kinds RETURNED and APART. An array that is the only large one is made without a copy."""
    if payload[0] == RETURNED:
        return pickle.loads(payload[1:])
    (count,) = struct.unpack_from("<Q", payload, 1)
    sizes = struct.unpack_from(f"<{count}Q", payload, 9)
    pieces, end = [], 9 + 8 * count
    for size in sizes:
        begin = _aligned(end)
        end = begin + size
        pieces.append(payload[begin:end])
    head, *buffers = pieces
    return pickle.loads(head, buffers=buffers if len(buffers) == 1 else map(bytearray, buffers))


def _dumps(value, in_one=False):
    """(the pickle, its large buffers). ``in_one``: there are no such buffers.

    By pickle; if it refuses (a class or a function of the user's program), by cloudpickle.
    """
    buffers = []

    def stays(buffer):
        raw = buffer.raw()
        if in_one or raw.nbytes < _APART_BYTES:
            return True
        buffers.append(raw)
        return False

    try:
        return pickle.dumps(value, protocol=5, buffer_callback=stays), buffers
    except Exception:
        buffers.clear()
        try:
            import cloudpickle

            return cloudpickle.dumps(value, protocol=5, buffer_callback=stays), buffers
        except Exception as error:
            text = f"the function's result ({type(value).__name__}) cannot be sent back: {sentence(error)}"
            raise UnsendableError(text) from None


def _check_size(size):
    if size > LARGEST_RESULT_BYTES:
        raise UnsendableError(
            f"the function's result has {size} bytes when pickled, but at most {LARGEST_RESULT_BYTES} can be "
            "sent back; write it to a file and return the file's name"
        )


def _dump_error(error):
    import traceback

    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        pickled, _ = _dumps((error, text), in_one=True)
        _check_size(len(pickled))
        pickle.loads(pickled)  # an exception whose __init__ needs more than the message cannot be made again
        return pickled
    except Exception:
        return pickle.dumps((UnsendableError(sentence(error)), text), protocol=5)


def load_error(pickled):
    """In the master: the exception, with its remote traceback as the cause."""
    error, text = pickle.loads(pickled)
    error.__cause__ = RemoteTraceback(text)
    return error
