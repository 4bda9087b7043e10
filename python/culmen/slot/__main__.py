"""The slot's loop: set-up, then one evaluation after the other, until the socket ends."""

import os
import signal

from culmen.slot import protocol
from culmen.slot.failure import describe
from culmen.slot.result import WrongShapeError, read_result
from culmen.slot.target import TargetError, load


def evaluate(function, set_up, request):
    """The encoded outcome of one evaluation."""
    values = protocol.decode_candidate(request)
    named = zip(set_up.names, set_up.converters, values, strict=True)
    arguments = {name: convert(value) for name, convert, value in named}
    try:
        returned = function(arguments)
    except BaseException as error:  # SystemExit too: the function's failure is an answer, not this process's end
        return protocol.encode_failure(protocol.FAILED, describe(error))
    try:
        numbers, extras = read_result(returned, set_up.wants_residuals)
    except WrongShapeError as error:
        return protocol.encode_failure(protocol.WRONG_SHAPE, str(error))
    return protocol.encode_outcome(numbers, set_up.wants_residuals, extras)


def main():
    # Stopping is the master's to decide, though the signal may reach every process. A handler, unlike SIG_IGN, is not
    # handed on to what the function starts.
    for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP):
        signal.signal(stop, lambda _number, _frame: None)
    os.environ.pop("PYTHONSAFEPATH", None)  # it was for this process; what the function starts is the user's
    channel = protocol.Channel()
    frame = channel.receive()
    if frame is None:
        return
    set_up = protocol.decode_set_up(frame)
    try:
        function = load(set_up)
    except TargetError as error:
        channel.send(str(error).encode(errors="replace"))
        return
    channel.send(b"")
    while (request := channel.receive()) is not None:
        channel.send(evaluate(function, set_up, request))


if __name__ == "__main__":
    main()
