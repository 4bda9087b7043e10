"""The slot's loop: set-up, then one evaluation after another, until the socket closes."""

import os

from culmen.slot import batch, output, protocol, stops
from culmen.slot.process import Process
from culmen.slot.single import answer_one
from culmen.slot.target import TargetError, load


def main():
    stops.ignore()
    output.write_lines()
    os.environ.pop("PYTHONSAFEPATH", None)  # only for this process, not for those that the function starts
    process = Process()
    channel = protocol.Channel()
    frame = channel.receive()
    if frame is None:
        return
    set_up = protocol.decode_set_up(frame)
    try:
        function = load(set_up)
    except TargetError as error:
        process.end_copy(error.__cause__ or error)
        channel.send(str(error).encode(errors="replace"))
        return
    process.end_copy()
    if set_up.output == output.NONE:
        output.discard()
    if set_up.takes_items:
        from culmen.slot import items  # pickle and more, whose import takes time that other slots need not spend

        items.serve(channel, process, function)
        return
    answer = answer_one
    if set_up.batch:
        batch.load_numpy()
        answer = batch.answer_batch
    channel.send(b"")
    while (request := channel.receive()) is not None:
        channel.send(answer(function, set_up, request, process))


if __name__ == "__main__":
    main()
