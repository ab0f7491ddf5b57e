"""Networks, methods and figures of each kind of input, one file per kind. To add a kind, add a file with a `Kind`, and a line here."""

from ..core.kinds import Kind as Kind, Pace as Pace, register as register
from .columns import COLUMNS
from .patches import PATCHES

OURS = (COLUMNS, PATCHES)  # columns accept any rows, so they come first and are tried last
