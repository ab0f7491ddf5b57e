"""The command line, with one file per command. Commands import heavy libraries when they run, so that help is fast."""

from .app import app as app, main as main
