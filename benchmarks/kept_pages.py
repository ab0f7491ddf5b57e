"""Write the pages of docs/results again from their kept cells, to compare the pages of two versions of the code.

    PYTHONPATH=src python benchmarks/kept_pages.py FOLDER
    PYTHONPATH=OTHER/src python benchmarks/kept_pages.py OTHER-FOLDER && diff -r FOLDER OTHER-FOLDER

FOLDER becomes a copy of docs/results in which the imported code writes each page and its results.csv again, with the command that the page
names. Nothing is computed, and figures stay unchanged. Machines and dates are those of the cells. The digest of the code, which cells
had before they had a revision, is replaced in the copy, so that both versions mark these cells as older. Pages that cannot be written,
because no cell is kept or a data set is missing (lex-faces: set LEXPLAIN_DATA), are listed with the reason and removed.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

import lexplain
from lexplain.reproduce import reproduce

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"
COMMAND = re.compile(r"`lexplain reproduce (\S+)( --quick)? --seeds (\d+)`")
WRITTEN = ("README.md", "results.csv")
CODE = re.compile(r'"code": "[^"]*"')


def main() -> None:
    """Copy the results, write all pages, and list them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the copy; it must not exist")
    out = parser.parse_args().folder
    shutil.copytree(RESULTS, out)
    for cell in out.glob("*/cells/*.json"):
        cell.write_text(CODE.sub('"code": "kept"', cell.read_text()))
    print(f"code of {Path(lexplain.__file__).parent}")
    for page in sorted(out.glob("*/README.md")):
        command = COMMAND.search(page.read_text())
        if command is None:
            sys.exit(f"{page} does not name its command")
        for name in WRITTEN:
            (page.parent / name).unlink(missing_ok=True)
        name, quick, seeds = command.groups()
        try:
            written = reproduce(name, quick=quick is not None, seeds=int(seeds), out=out, render_only=True)
            print(f"{written.relative_to(out)}: written")
        except (ValueError, OSError) as reason:
            print(f"{page.relative_to(out)}: not written ({type(reason).__name__}: {str(reason).splitlines()[0]})")


if __name__ == "__main__":
    main()
