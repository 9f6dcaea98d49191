"""The one style of generated Python: the only door to black."""

from __future__ import annotations

from collections.abc import Mapping

LINE_LENGTH = 100


def formatted(modules: Mapping[str, str]) -> dict[str, str]:
    """Modules by name, in the style of black. Raises `black.InvalidInput` for a module that is no Python."""
    import black  # here, because most commands write no Python, and it takes a sixth of their start
    from black.mode import TargetVersion

    mode = black.Mode(line_length=LINE_LENGTH, target_versions={TargetVersion.PY311})
    return {name: black.format_str(text, mode=mode) for name, text in modules.items()}
