"""The outcome of one call of the user's function; failures mean the same in a slot and on a lent executor."""

from culmen.slot import protocol
from culmen.slot.failure import describe
from culmen.slot.result import WrongShapeError, read_result


def call(function, arguments, after=lambda error=None: None):
    """(returned value, None), or (None, the encoded failure). ``after`` is called at once with any exception."""
    try:
        returned = function(arguments)
    except BaseException as error:  # SystemExit too: the function's failure is an answer and does not end its caller
        after(error)
        return None, protocol.encode_failure(protocol.FAILED, describe(error, arguments))
    after()
    return returned, None


def encode_returned(returned, result, objectives):
    """The encoded outcome: a failure if the result has the wrong shape."""
    try:
        numbers, extras = read_result(returned, result, objectives)
    except WrongShapeError as error:
        return protocol.encode_failure(protocol.WRONG_SHAPE, str(error))
    return protocol.encode_outcome(numbers, result, extras)


def outcome_of(function, arguments, result, objectives, call=call):
    """The encoded outcome of one call."""
    returned, failure = call(function, arguments)
    return encode_returned(returned, result, objectives) if failure is None else failure
