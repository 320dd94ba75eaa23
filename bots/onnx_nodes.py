"""Read which operators an ONNX model uses, from the bytes of its file: it needs no package, and runs nothing."""

from __future__ import annotations

from collections.abc import Iterator

RANDOM = {
    b"Bernoulli",
    b"BiasDropout",
    b"BitmaskBiasDropout",
    b"BitmaskDropout",
    b"Multinomial",
    b"RandomNormal",
    b"RandomNormalLike",
    b"RandomUniform",
    b"RandomUniformLike",
    b"Sampling",
}
"""Operators whose generators belong to the process: what they give depends on what it has played before."""
DROPOUT, TRAINING = b"Dropout", 2
"""The operator that draws only if an input says so, and which."""
PARTS = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {6: "graph", 11: "graph"},
}
"""Messages of ONNX inside of others, by number of their field; what is not on the way to a node is skipped."""
NODE_INPUT, NODE_OPERATOR = 1, 4
"""Fields of a node."""


def random_operator(model: bytes) -> str | None:
    """Return an operator of a model that draws random numbers, None where no one does; raises `ValueError`.

    Branches, loops and the model's own functions count, whether or not they are reached.
    """
    waiting = [("model", memoryview(model))]
    while waiting:
        kind, message = waiting.pop()
        inputs: list[bytes] = []
        operator = b""
        for number, content in _fields(message):
            if number in PARTS[kind]:
                waiting.append((PARTS[kind][number], content))
            elif kind == "node" and number == NODE_INPUT:
                inputs.append(bytes(content))
            elif kind == "node" and number == NODE_OPERATOR:
                operator = bytes(content)
        if operator in RANDOM or (operator == DROPOUT and any(inputs[TRAINING:])):
            return operator.decode()
    return None


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield the fields of a message of protobuf that have a length, by number; raises `ValueError` for a broken one."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        wire = key & 7
        if wire == 0:
            _, at = _varint(message, at)
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
        elif wire == 2:
            size, at = _varint(message, at)
            yield key >> 3, message[at : at + size]
            at += size
        else:
            raise ValueError(f"a field of wire type {wire}")
    if at > len(message):
        raise ValueError("a message that is cut off")


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Return a whole number and where the next field begins."""
    value = 0
    for place in range(10):
        if at + place >= len(message):
            break
        value |= (message[at + place] & 127) << 7 * place
        if message[at + place] < 128:
            return value, at + place + 1
    raise ValueError("a number that does not end")
