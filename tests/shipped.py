"""The specs that ship with forgec."""

from pathlib import Path

from forgec.files.heads import heads_in

FOLDER = Path(__file__).parent.parent / "specs"
ENVIRONMENTS = [path for path, head in heads_in(FOLDER) if not head.extends]
"""Those that declare an environment; the others are parts of them."""
