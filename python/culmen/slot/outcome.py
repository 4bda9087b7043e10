"""What a call of the user's function comes to: a slot and an executor of the program count the same as failures."""

from culmen.slot import protocol
from culmen.slot.failure import describe
from culmen.slot.result import WrongShapeError, read_result


def call(function, arguments, after=lambda error=None: None):
    """(what came back, None), or (None, the encoded failure). ``after`` is told at once what was raised, or nothing."""
    try:
        returned = function(arguments)
    except BaseException as error:  # SystemExit too: the function's failure is an answer, not its caller's end
        after(error)
        return None, protocol.encode_failure(protocol.FAILED, describe(error, arguments))
    after()
    return returned, None


def encode_returned(returned, result, objectives):
    """The encoded outcome: a failure where it has the wrong shape."""
    try:
        numbers, extras = read_result(returned, result, objectives)
    except WrongShapeError as error:
        return protocol.encode_failure(protocol.WRONG_SHAPE, str(error))
    return protocol.encode_outcome(numbers, result, extras)


def outcome_of(function, arguments, result, objectives, call=call):
    """The encoded outcome of one call."""
    returned, failure = call(function, arguments)
    return encode_returned(returned, result, objectives) if failure is None else failure
