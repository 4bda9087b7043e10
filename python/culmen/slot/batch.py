"""Many candidates in one call: the function gets a dict of vectors, and returns a vector of values.

Vectors are NumPy arrays if NumPy can be imported, else lists.
"""

from culmen.slot import output, protocol
from culmen.slot.outcome import encode_returned
from culmen.slot.result import WrongShapeError, kind_of


def answer_batch(function, set_up, frame, process):
    requests = protocol.split_batch(frame)
    outcomes = evaluate_batch(function, set_up, requests, process.call)
    size = output.log_size()
    return protocol.join_batch([protocol.begin_answer(r, size) + o for r, o in zip(requests, outcomes, strict=True)])


def evaluate_batch(function, set_up, requests, call):
    """The encoded outcomes. ``call(function, arguments)`` gives (returned value, None) or (None, encoded failure).

    If the function raises, each candidate is evaluated alone, so that one does not fail the others.
    """
    values = [protocol.decode_candidate(request) for request in requests]
    returned, failure = call(function, _vectors(set_up, values))
    if failure is None:
        return _outcomes(returned, set_up, len(requests))
    if len(requests) == 1:
        return [failure]
    return [outcome for request in requests for outcome in evaluate_batch(function, set_up, [request], call)]


def _vectors(set_up, values):
    named = zip(set_up.names, set_up.converters, zip(*values, strict=True), strict=True)
    vectors = {name: [_value(convert, value) for value in column] for name, convert, column in named}
    numpy = load_numpy()
    return {name: numpy.asarray(vector) for name, vector in vectors.items()} if numpy else vectors


def _value(convert, value):
    """NaN means inactive; it stays NaN for reals, and becomes None for others."""
    return convert(value) if value == value or convert is float else None


def load_numpy():
    """None without NumPy. A slot loads it before its first batch, outside the time limit."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def _outcomes(returned, set_up, n):
    try:
        rows, extras = _rows(returned, n)
        figures = [{name: column[i] for name, column in extras.items()} for i in range(n)]
        answers = zip(rows, figures, strict=True)
        return [encode_returned(answer, set_up.result, set_up.objectives) for answer in answers]
    except WrongShapeError as error:
        return [protocol.encode_failure(protocol.WRONG_SHAPE, str(error))] * n


def _rows(returned, n):
    """The returned value for each candidate, and the columns of the extra values."""
    extras = {}
    if isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], dict):
        returned, extras = returned
    if isinstance(returned, dict):  # objectives by name
        returned, extras = [{} for _ in range(n)], {**returned, **extras}
    _check_length("the function returned", returned, n)
    for name, column in extras.items():
        _check_length(f"the value {name!r} is", column, n)
    return list(returned), {str(name): column for name, column in extras.items()}


def _check_length(what, thing, n):
    shape = getattr(thing, "shape", None)
    plain = hasattr(thing, "__len__") and not isinstance(thing, (str, bytes, dict, set))
    length = (shape[0] if shape else None) if shape is not None else len(thing) if plain else None
    if length != n:
        wanted = f"it must have {n} entries, one for each (each parameter is a vector of {n})"
        raise WrongShapeError(f"{what} {kind_of(thing)} for a batch of {n} candidates; {wanted}")
