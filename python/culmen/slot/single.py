"""One candidate in one call."""

from culmen.slot import output, protocol
from culmen.slot.outcome import outcome_of


def evaluate(function, set_up, request, process):
    """The encoded outcome of one evaluation."""
    values = protocol.decode_candidate(request)
    named = zip(set_up.names, set_up.converters, values, strict=True)
    arguments = {name: convert(value) for name, convert, value in named if value == value}  # NaN: inactive
    return outcome_of(function, arguments, set_up.result, set_up.objectives, process.call)


class InTeam:
    """Calls a function with the parameters and the communicator of its team."""

    def __init__(self, function, communicator):
        self._function = function
        self._communicator = communicator

    def __call__(self, arguments):
        return self._function(arguments, self._communicator)


def answer_one(function, set_up, request, process):
    outcome = evaluate(function, set_up, request, process)
    return protocol.begin_answer(request, output.log_size()) + outcome
