"""Comments that allow findings, and have nothing to allow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from forgec.checks.subject import Finding
from forgec.checks.suppressing import Permission
from forgec.diagnostics import did_you_mean


def useless_permissions(
    permissions: Iterable[Permission], used: Collection[Permission], codes: Collection[str]
) -> Iterator[Finding]:
    """A comment that allows a finding names no rule, gives no reason, or stands where its rule finds nothing.

    `-- allow AFW102: why` at the end of a line, or alone on the line above, allows one rule in one place. A comment
    that has nothing to allow would hide the next mistake that is made there.

    Bad:

        tool greet(name text) returns text "Greet somebody." {
          let hello = 'Hello ' || $name;  -- allow AFW102: it is read below
          reply "{$hello}";
        }

    Good:

        tool greet(name text) returns text "Greet somebody." {
          let hello = 'Hello ' || $name;
          reply "{$hello}";
        }
    """
    for permission in permissions:
        code = permission.code
        if code not in codes:
            hint = did_you_mean(code, codes) if code.startswith("AFW") else "errors cannot be allowed"
            yield Finding(f"there is no rule `{code}`", permission.span, help=hint)
        elif not permission.reason:
            hint = f"write `-- allow {code}: why`"
            yield Finding(f"this does not say why `{code}` is allowed here", permission.span, help=hint)
        elif permission not in used:
            yield Finding(f"`{code}` finds nothing here", permission.span)
