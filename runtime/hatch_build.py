"""Compiles the modules that every call goes through to C, with mypyc: they mean the same, and take half the time.

    HATCH_BUILD_HOOK_ENABLE_CUSTOM=true pip install ./runtime

takes a C compiler. Without that variable the wheel is Python alone, and runs everywhere.
"""

import os
from contextlib import chdir
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODULES = (
    "arguments", "base", "call", "constraints", "documents", "limits", "results", "scheduler", "schema", "telemetry",
    "tool", "sql/calculated", "sql/columns", "sql/lists", "sql/logic", "sql/messages", "sql/numbers", "sql/rows",
    "sql/texts",
)  # fmt: skip


class CompiledModules(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the compiled modules beside those that they are made from."""
        from mypyc.build import mypycify
        from setuptools import Distribution

        made = Path(self.root, "build", "compiled")  # is asked for twice, and quick the second time
        with chdir(self.root):
            extensions = mypycify(
                ["--strict", *(f"forgec_runtime/{name}.py" for name in MODULES)],
                opt_level="3",
                target_dir=str(made / "c"),
            )
            command = Distribution({"name": "forgec-runtime", "ext_modules": extensions}).get_command_obj("build_ext")
            command.build_lib, command.build_temp = str(made / "lib"), str(made / "temp")
            command.ensure_finalized()
            command.run()
        for file in (made / "lib").rglob(f"*{'.pyd' if os.name == 'nt' else '.so'}"):
            build_data["force_include"][str(file)] = str(file.relative_to(made / "lib"))
        build_data["pure_python"], build_data["infer_tag"] = False, True
