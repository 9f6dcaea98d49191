"""Faults put into the running compiler and runtime, a line of source each."""

import gc
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import CodeType, FunctionType


@dataclass(frozen=True)
class Fault:
    """In `module`, where `right` stands (once), `wrong` stands instead. Calls of `tools` of a spec show it soon."""

    what: str
    module: str
    right: str
    wrong: str
    tools: str = ""
    spec: str = "differential/kitchen_sink.afs"

    @property
    def compiles(self) -> bool:
        """Whether the compiler has it, so that packages must be made anew."""
        return self.module.startswith("forgec.")

    @contextmanager
    def seeded(self) -> Iterator[None]:
        """Every function that the line is part of has the fault, whoever holds that function; afterwards none has."""
        module = import_module(self.module)
        source = inspect.getsource(module)
        assert source.count(self.right) == 1, f"`{self.right}` is {source.count(self.right)} times in {self.module}"
        assert self.right.count("\n") == self.wrong.count("\n"), "lines keep their numbers, by which code is known"
        right = _codes(compile(source, module.__file__ or "", "exec"))
        wrong = _codes(compile(source.replace(self.right, self.wrong), module.__file__ or "", "exec"))
        changed = {code: wrong[place] for place, code in right.items() if wrong.get(place, code) != code}
        functions = [one for one in gc.get_objects() if type(one) is FunctionType and one.__code__ in changed]
        assert functions, f"no function has the line `{self.right}`"
        kept = [(function, function.__code__) for function in functions]
        try:
            for function, code in kept:
                function.__code__ = changed[code]
            yield
        finally:
            for function, code in kept:
                function.__code__ = code


def _codes(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """All code of a module by the name and line of its function."""
    found = {}
    for part in code.co_consts:
        if isinstance(part, CodeType):
            found[part.co_qualname, part.co_firstlineno] = part
            found.update(_codes(part))
    return found
