"""What the library knows of each kind of input, one file per kind. To add one: a file with a `Kind`, and a line here."""

from ..core.kinds import Kind as Kind, Pace as Pace, register as register
from .columns import COLUMNS
from .patches import PATCHES

OURS = (COLUMNS, PATCHES)  # columns take what no other kind does, so they come first and are asked last
