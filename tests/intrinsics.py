"""The intrinsic functions of state machines that the definition of a run uses, and no other."""

import json
import re
from collections.abc import Callable
from typing import Any

_CALL = re.compile(r"States\.(\w+)\((.*)\)", re.DOTALL)
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ArrayContains": lambda array, value: value in array,
    "ArrayGetItem": lambda array, place: array[place],
    "Format": lambda template, *values: template.replace("{}", "%s") % values,
    "JsonToString": lambda value: json.dumps(value, separators=(",", ":")),
    "MathAdd": lambda one, other: one + other,
}


def value_of(expression: str, look_up: Callable[[str], Any]) -> Any:
    """What a value that ends in `.$` stands for; `look_up` finds what a path leads to."""
    call = _CALL.fullmatch(expression)
    if call is not None:
        arguments = [value_of(argument, look_up) for argument in _arguments(call[2])]
        return _FUNCTIONS[call[1]](*arguments)
    if expression.startswith("'"):
        return expression.strip("'")
    return look_up(expression) if expression.startswith("$") else int(expression)


def _arguments(text: str) -> list[str]:
    """The arguments between the commas that are neither quoted nor inside another call."""
    found, depth, quoted = [""], 0, False
    for character in text:
        quoted ^= character == "'"
        depth += (not quoted) * ((character == "(") - (character == ")"))
        if character == "," and not quoted and not depth:
            found.append("")
        else:
            found[-1] += character
    return [argument.strip() for argument in found]
