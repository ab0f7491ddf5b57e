# Each command sets up .venv by itself; nothing else needs to be installed but Python.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test bench quality clean

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

$(VENV)/.peers: $(VENV)/.installed
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev,peers]'
	touch $@

demo: $(VENV)/.installed  ## the main job on embedded data: a table and report.html
	$(BIN)/lexplain demo

test: $(VENV)/.peers  ## style, types and tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/pytest

bench: $(VENV)/.peers  ## speed against the bare network and against LIME and KernelSHAP
	$(BIN)/python benchmarks/run.py

quality: $(VENV)/.installed  ## how well the default finds the true features, next to the committed figures
	$(BIN)/python benchmarks/quality.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
