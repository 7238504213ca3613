# make demo and make test are all that a newcomer needs; both set everything up first.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: setup demo gallery docs test test-kernels test-all soak calibrate check golden lock sbom bench clean

setup: $(STAMP)

# A virtual environment that was moved or broken is made anew; otherwise there is nothing to do.
VENV := $(BIN)/python -c "" 2>/dev/null || { rm -rf .venv && $(PYTHON) -m venv .venv; }

# Only files whose sha256 is in the lock are installed, the tool that builds goffman among them.
LOCKED := $(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock

# On Linux torch is the build for CPUs, which PyPI does not have: PyTorch's index is asked for it where
# pip has been told of no other place.
# Only where the lock has no hash for this Python and processor are versions alone what counts; a
# hash that is wrong is an error.
$(STAMP): pyproject.toml requirements.lock
	@$(VENV)
	@$(BIN)/python tools/locked.py; case $$? in \
	0) $(LOCKED) || $(LOCKED) --retries 1 --extra-index-url https://download.pytorch.org/whl/cpu ;; \
	3) $(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]" ;; \
	*) exit 1 ;; esac
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# After a change of versions in constraints.txt: their hashes, and what a wheel says it runs with.
lock:
	@$(VENV)
	$(BIN)/python tools/lock.py
	$(MAKE) sbom

sbom: setup
	$(BIN)/python tools/sbom.py

# The whole default audit of the two models that ship with goffman, and its report.
demo: setup
	$(BIN)/goffman audit --output runs/demo

# The page docs/gallery.md and its pictures, from the demo and its other analyses.
gallery: demo
	$(BIN)/goffman stress runs/demo
	$(BIN)/python tools/gallery.py runs/demo

# The pages of docs/ as a site in site/; a link that leads nowhere is an error.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Compiled once, not again by each of the many processes that the tests start.
test test-kernels test-all: export PYTHONDONTWRITEBYTECODE :=

test: setup
	$(BIN)/pytest -n 2 -m "not slow"

# Whatever a CPU rounds otherwise, once more with the kernels of one without AVX-512.
KERNELS := $(addprefix tests/models/test_,bundled.py causal.py chat_local.py classifier.py \
	forward.py lean.py masked.py precision.py) tests/runs/test_ask.py tests/test_pronouns.py \
	tests/test_audit.py::test_a_lower_precision_says_how_far_it_is_from_float32 \
	tests/test_audit.py::test_a_classifier_in_a_lower_precision_says_so_too

test-kernels: setup
	ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=AVX2 \
		$(BIN)/pytest -n 2 -m "not slow" $(KERNELS)

# Everything in `make test`, and the slow tests.
test-all: test
	$(BIN)/pytest -n 2 -m slow

# Audits and reports killed so often, taken up again, and compared with undisturbed ones.
KILLS ?= 1000
soak: setup
	$(BIN)/python tests/runs/soak.py --kills $(KILLS)

# How often an interval misses the truth, in simulated audits: bench/calibration.md.
calibrate: setup
	$(BIN)/python tests/calibration.py

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Renews the pinned prompts, numbers and sentences, the page of commands and what pages show of other files.
golden: setup
	$(BIN)/pytest -q tests/instruments/test_golden.py tests/instruments/test_identities.py tests/replicate/test_approved.py tests/pinned tests/presentation/test_said.py tests/test_users_files.py --renew-golden
	$(BIN)/pytest -q tests/test_docs.py -k "page_of_commands or shows_other_files" --renew-golden

# Speed on one core, by CPU time, against the ready-made ways (about six minutes).
bench: setup
	$(BIN)/python -m pip install --quiet --constraint constraints.txt minicons
	$(BIN)/python bench/cpu.py

clean:
	rm -rf .venv dist build site .pytest_cache .mypy_cache .ruff_cache .hypothesis
