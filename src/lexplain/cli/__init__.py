"""The command line: one file a command. Heavy imports lie inside the commands, so that help comes at once."""

from .app import app as app, main as main
