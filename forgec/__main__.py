"""The `forgec` command."""

from __future__ import annotations

import os
import sys
import traceback

from forgec.installation import BadInstallation


def main() -> None:
    """Run the command line. Exit codes: 0 clean, 1 findings or drift, 2 usage or unreadable input, 3 our fault."""
    try:
        from forgec.commands import forgec  # here, so that an interrupt that comes early is met as any other
        from forgec.garbage import collect_seldom

        collect_seldom()
        forgec(prog_name="forgec")
    except KeyboardInterrupt:  # click says the same of those that come later
        print("\nAborted!", file=sys.stderr)
        sys.exit(1)
    except OSError as error:  # a full disk, or an output that nobody reads
        what = f"{error.filename}: " if error.filename else ""
        print(f"forgec: {what}{error.strerror or error}", file=sys.stderr)
        os._exit(2)  # whatever is left in the buffers cannot be written either
    except BadInstallation as error:
        print(f"forgec: {error}", file=sys.stderr)
        sys.exit(2)
    except Exception:  # whatever reaches this point is a defect of forgec, never the user's
        traceback.print_exc()
        print("\ninternal error: this is a defect of forgec; please report it with the lines above", file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main()
