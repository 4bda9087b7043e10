"""Frames over descriptor 3, and the bytes in them.

The C++ side documents their content: ``worker/slot/channel.hpp`` (frames), ``worker/core/evaluator_spec.hpp`` (set-up),
``space/space.hpp`` and ``evaluation/codec.hpp`` (candidate, outcome). All numbers are little-endian.
"""

import math
import os
import struct
from array import array

DESCRIPTOR = 3
VERSION = 4  # of the set-up
OUTCOME_VERSION = 2
REAL, INTEGER, BOOLEAN = 0, 1, 4
NUMBER, TEXT, WHOLE, TRUTH, NONE = 0, 1, 2, 3, 4  # kinds of choices
FIXED = 2  # among the flags of a parameter
ITEMS = 4  # kind of evaluator: every candidate brings its own function call
VALUE, RESIDUALS, FIGURES = 0, 1, 2
OK, FAILED, CRASHED, WRONG_SHAPE = 0, 1, 2, 5

_LENGTH = struct.Struct("<Q")
_SMALL_BYTES = 16 << 10  # read at once


class Channel:
    """The socket to the worker. Processes that the function starts do not inherit it."""

    def __init__(self):
        os.set_inheritable(DESCRIPTOR, False)
        self._rest = b""  # the beginning of a frame that came with the last one

    def receive(self):
        """The next frame; None if the worker has gone."""
        first = self._rest or self._read_some(_SMALL_BYTES)
        self._rest = b""
        while first is not None and len(first) < _LENGTH.size:
            more = self._read_some(_SMALL_BYTES)
            first = None if more is None else first + more
        if first is None:
            return None
        wanted = _LENGTH.unpack_from(first)[0] + _LENGTH.size
        if len(first) == wanted:
            return first[_LENGTH.size :]
        if len(first) > wanted:
            self._rest = first[wanted:]
            return first[_LENGTH.size : wanted]
        return self._read_rest(first[_LENGTH.size :], wanted - len(first))

    def send(self, frame):
        self.write(_LENGTH.pack(len(frame)) + frame)

    def write(self, frame):
        """Bytes that already start with their length, or continue such bytes."""
        left = memoryview(frame)
        while left:
            try:
                left = left[os.write(DESCRIPTOR, left) :]
            except BrokenPipeError:
                os._exit(0)

    def _read_rest(self, begin, size):
        """In one buffer: large frames are not joined from pieces."""
        frame = bytearray(len(begin) + size)
        frame[: len(begin)] = begin
        left = memoryview(frame)[len(begin) :]
        while left:
            try:
                count = os.readv(DESCRIPTOR, [left])
            except ConnectionResetError:
                count = 0
            if count == 0:
                return None
            left = left[count:]
        return frame

    @staticmethod
    def _read_some(most):
        try:
            return os.read(DESCRIPTOR, most) or None
        except ConnectionResetError:
            return None


class Reader:
    """Reads values from a frame, in order."""

    def __init__(self, frame):
        self.frame = frame
        self.at = 0

    def take(self, layout):
        (value,) = struct.unpack_from("<" + layout, self.frame, self.at)
        self.at += struct.calcsize("<" + layout)
        return value

    def blob(self):
        size = self.take("Q")
        self.at += size
        return self.frame[self.at - size : self.at]

    def view(self):
        """A blob without a copy of it."""
        size = self.take("Q")
        self.at += size
        return memoryview(self.frame)[self.at - size : self.at]

    def text(self):
        return self.blob().decode("utf-8", "surrogateescape")  # paths may hold any bytes


class SetUp:
    """The evaluator of this slot."""

    def __init__(self):
        self.names = []
        self.converters = []
        self.objectives = []
        self.takes_items = False
        self.result = VALUE
        self.target = ""
        self.pickle = b""
        self.base_folder = ""
        self.batch = 0
        self.output = 0


def decode_set_up(frame):
    reader = Reader(frame)
    if (version := reader.take("B")) != VERSION:
        raise SystemExit(f"culmen.slot: got a set-up of version {version}, but this package knows version {VERSION}")
    set_up = SetUp()
    for _ in range(reader.take("Q")):
        set_up.names.append(reader.text())
        set_up.converters.append(_decode_parameter(reader))
    for _ in range(reader.take("Q")):
        _constraint = reader.text(), reader.text()
    for _ in range(reader.take("I")):
        set_up.objectives.append(reader.text())
        _direction = reader.take("B")
    for _ in range(reader.take("I")):
        _limit = reader.text(), reader.take("d"), reader.take("d")
    _loss, _f_scale = reader.take("B"), reader.take("d")
    derived = {reader.text(): reader.text() for _ in range(reader.take("I"))}
    set_up.objectives = [name for name in set_up.objectives if name not in derived]
    _conditions = [(reader.text(), reader.text()) for _ in range(reader.take("I"))]
    _residuals = [reader.text() for _ in range(reader.take("I"))]
    kind, _isolation, set_up.result = (reader.take("B") for _ in range(3))
    set_up.takes_items = kind == ITEMS
    set_up.target = reader.text()
    set_up.pickle = reader.view()
    _interpreter = reader.text()
    _command = [reader.text() for _ in range(reader.take("Q"))]
    _time_limit_s = reader.take("d")
    set_up.base_folder = reader.text()
    _working_folder, _run_marker = reader.text(), reader.text()
    _environment = [(reader.text(), reader.text()) for _ in range(reader.take("Q"))]
    _modules = [reader.text() for _ in range(reader.take("Q"))]
    set_up.batch = reader.take("I")
    set_up.output = reader.take("B")
    return set_up


def _decode_parameter(reader):
    """The conversion from a double to the parameter's value."""
    kind, _scale, _lower, _upper = (reader.take(layout) for layout in "BBdd")
    choices = [_decode_choice(reader) for _ in range(reader.take("I"))]
    flags, _initial, _active_when = reader.take("B"), reader.take("d"), reader.text()
    _fixed = reader.take("d") if flags & FIXED else None  # a candidate has its number, as those of others
    if choices:
        return lambda x: choices[min(max(int(x), 0), len(choices) - 1)]
    return {REAL: float, INTEGER: int, BOOLEAN: bool}[kind]


def _decode_choice(reader):
    kind = reader.take("B")
    if kind == TEXT:
        return reader.text()
    return reader.take({NUMBER: "d", WHOLE: "q", TRUTH: "?"}[kind]) if kind != NONE else None


def split_batch(frame):
    """The requests of a batch."""
    reader = Reader(frame)
    return [reader.blob() for _ in range(reader.take("I"))]


def join_batch(answers):
    return b"".join([struct.pack("<I", len(answers)), *(_LENGTH.pack(len(answer)) + answer for answer in answers)])


_REQUEST = struct.Struct("<IBQQ")  # attempt; the candidate's version, id and number of values
_NO_MORE = struct.pack("<QdQ", 0, 0.0, 0)  # further objectives, violation, payload
_ANSWER = struct.Struct("<IQQ")  # attempt, evaluation, size of the log; then the outcome


def decode_candidate(request):
    """The parameters' values."""
    *_, count = _REQUEST.unpack_from(request)
    return struct.unpack_from(f"<{count}d", request, _REQUEST.size)


def begin_answer(request, log_size):
    """The beginning of an answer: the evaluation that it belongs to, and what it has printed."""
    attempt, _version, evaluation, _count = _REQUEST.unpack_from(request)
    return _ANSWER.pack(attempt, evaluation, log_size)


def encode_outcome(numbers, result, extras):
    """numbers: array of doubles; one value, or the residuals (the worker sums their squares)."""
    if result == RESIDUALS:
        return _encode(OK, math.nan, numbers, extras, "")
    return _encode(OK, numbers[0], array("d"), extras, "")


def encode_failure(status, message):
    return _encode(status, math.nan, array("d"), {}, message)


def _encode(status, value, vector, extras, message):
    parts = [
        struct.pack("<BBddQ", OUTCOME_VERSION, status, 0.0, value, len(vector)),
        vector.tobytes(),
        struct.pack("<I", len(extras)),
    ]
    for name, figure in extras.items():
        parts += [_text(name), struct.pack("<d", figure)]
    parts += [_text(message), _NO_MORE]
    return b"".join(parts)


def _text(text):
    encoded = text.encode(errors="replace")
    return _LENGTH.pack(len(encoded)) + encoded
