# Everything a developer types. `make test` is what CI runs.
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
RUN    := $(VENV)/.installed
STAMP  := $(VENV)/.installed-for-tests
N      ?= 5000
SEED   ?= 0
RANKS  ?= 2 3 4
SECONDS ?= 540
WHEELS ?= .whl
CLANG  ?= $(firstword $(notdir $(wildcard $(addsuffix /clang++*,$(subst :, ,$(PATH))))) clang++)
NATIVE := pyproject.toml setup.py $(wildcard dcpy/runtime/dispatch/*.cpp dcpy/runtime/dispatch/*.h) \
          $(wildcard dcpy/runtime/gpu/drivers/*.cpp dcpy/runtime/gpu/drivers/*.h) \
          $(wildcard dcpy/runtime/gpu/simulator/native/*.cpp dcpy/runtime/gpu/simulator/native/*.h)

# Modules are compiled once for all processes that tests start, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test tests null cc test-mpi test-clang test-fpga test-others heavy lint types layers bench bench-gpu bench-peers device-campaign docs golden fuzz \
        fuzz-gpu fuzz-files clean fuzz-invalid fuzz-schedules bench-compile check-transforms sanitize sanitize-address sanitize-threads

help:
	@echo "make demo    compile gemm and jacobi_2d, check them against NumPy, print times"
	@echo "make test    style, types, layers, and all tests (what CI runs)"
	@echo "make heavy   large programs and long campaigns: what make test leaves out, apart from measurements"
	@echo "make lint | types | layers | tests | test-mpi     one part of it; null: tests without a compiler, cc: with one"
	@echo "make test-mpi [RANKS=all]   tests of several ranks under mpirun (default: 2, 3 and 4; all: 1 to 8)"
	@echo "make test-clang [CLANG=clang++-19]   tests that need a compiler, by clang (make test has a few of them)"
	@echo "make test-fpga   installs Intel's emulator of FPGAs (1.1 GB), and runs the tests that need it"
	@echo "make test-others   installs pandas, xarray, Arrow, dask, JAX, cffi and pyright, and runs the tests that need them"
	@echo "make bench | docs | golden | clean"
	@echo "make fuzz N=20000 [SEED=0]   random programs against NumPy; make fuzz-gpu: on a simulated GPU; make check-transforms: all kernels"
	@echo "make fuzz-files N=10000 [SEED=0]   documents with hostile fields: nothing runs, nothing is written elsewhere"
	@echo "make fuzz-invalid N=10000 [SEED=0]   programs that are wrong: each is refused at a place, by an error of dcpy's"
	@echo "make fuzz-schedules [SEED=0]   random schedules of random loop nests, each step interpreted"
	@echo "make sanitize   generated code under sanitizers: sanitize-address, sanitize-threads"
	@echo "make bench-compile   how long first calls take, by phase, on programs as people write them"
	@echo "make bench-gpu     kernels of NPBench on the GPU that is there, beside CuPy, JAX and PyTorch"
	@echo "make device-campaign SECONDS=540 [OUT=folder]   all that is asked of a GPU that is there for minutes, without a network"
	@echo "make bench-peers   what benchmarks/run.py compares with, each in an environment of its own"

$(PY):
	$(PYTHON) -m venv $(VENV)

# In editable mode, which leaves Python files uncompiled; again whenever the native dispatcher or the dependencies change.
$(RUN): $(PY) $(NATIVE)
	@echo "installing into $(VENV), which takes a minute or two"
	$(PY) -m pip install --quiet --disable-pip-version-check -e .
	@$(PY) -m compileall -q dcpy
	@touch $@

$(STAMP): $(PY) $(NATIVE)
	@echo "installing into $(VENV), which takes a minute or two"
	$(PY) -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@$(PY) -m compileall -q dcpy
	@touch $(RUN) $@

demo: $(RUN)
	$(PY) -m benchmarks.demo

# All tests but those of ranks are one run, beside mypy, which uses one processor.
test: lint layers
	$(MAKE) --jobs=2 types tests
	$(MAKE) test-mpi

lint: $(STAMP)   ; $(PY) -m ruff check .
types: $(STAMP)  ; $(PY) -m mypy
layers: $(STAMP) ; $(VENV)/bin/lint-imports --no-cache
tests: $(STAMP)  ; $(PY) -m pytest -q -n auto -m "not perf and not heavy"
null: $(STAMP)   ; $(PY) -m pytest -q -n auto -m "not cc and not perf and not heavy"
cc: $(STAMP)     ; $(PY) -m pytest -q -n auto -m "cc and not perf and not heavy"
test-mpi: $(STAMP) ; $(PY) -m tests.mpi $(RANKS)
test-clang: $(STAMP) ; DCPY_CPU_COMPILER=$(CLANG) $(PY) -m pytest -q -n auto -m "cc and not perf and not heavy"
test-fpga: $(STAMP)
	$(PY) -m pip install --quiet --disable-pip-version-check -e '.[fpga-intel]'
	$(PY) -m pytest -q -m hls
test-others: $(STAMP)
	$(PY) -m pip install --quiet --disable-pip-version-check -e '.[test,test-others]'
	$(PY) -m pytest -q -m others
heavy: $(STAMP)
	$(PY) -m pytest -q -n auto -m "heavy and not perf"
	$(PY) -m pytest -q -n auto -m "not perf and not heavy" --exhaustive tests/frontend tests/end_to_end tests/libraries tests/benchmarks
bench: $(STAMP)  ; $(PY) -m benchmarks
bench-compile: $(STAMP) ; $(PY) -m benchmarks.compile_times

bench-peers: $(RUN)
	$(PY) -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@for list in benchmarks/peers/requirements/*.txt; do \
	  peer=$$(basename $$list .txt); \
	  $(PYTHON) -m venv .venv-peers/$$peer && .venv-peers/$$peer/bin/python -m pip install --quiet \
	    --disable-pip-version-check -r $$list || { echo "$$peer: not installed"; rm -rf .venv-peers/$$peer; }; \
	done

bench-gpu: $(STAMP)
	@for list in benchmarks/devices/requirements/*.txt; do \
	  peer=$$(basename $$list .txt); \
	  $(PYTHON) -m venv .venv-peers/$$peer && .venv-peers/$$peer/bin/python -m pip install --quiet \
	    --disable-pip-version-check numpy -r $$list || { echo "$$peer: not installed"; rm -rf .venv-peers/$$peer; }; \
	done
	$(PY) -m benchmarks.device_campaign --seconds 14400 --patience 10 --steps ceilings,compile,clock

# Installs nothing from anywhere: takes the Python that is there, wheels that were carried along, and builds in place.
device-campaign:
	$(or $(wildcard $(PY)),$(PYTHON)) -m benchmarks.device_campaign --seconds $(SECONDS) --wheels $(WHEELS) \
	  $(if $(OUT),--out $(OUT)) $(if $(COMMIT),--commit $(COMMIT))

docs: $(STAMP)
	$(PY) -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	$(PY) -m docs.generate
	$(PY) -m docs.gallery_pages
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet
	@echo "site/index.html"

golden: $(STAMP)
	$(PY) -m docs.generate
	$(PY) -m pytest -q -m "not perf" --update-golden

fuzz: $(STAMP)             ; $(PY) -m tests.fuzz $(N) $(SEED)
fuzz-gpu: $(STAMP)         ; $(PY) -m tests.fuzz $(N) $(SEED) gpu
fuzz-files: $(STAMP)       ; $(PY) -m tests.fuzz.files $(N) $(SEED)
fuzz-invalid: $(STAMP)       ; $(PY) -m tests.fuzz.invalid $(N) $(SEED)
fuzz-schedules: $(STAMP)   ; $(PY) -m tests.fuzz.schedules 1000 $(SEED)
check-transforms: $(STAMP) ; $(PY) -m tests.benchmarks.transformations

# Generated code under AddressSanitizer and UndefinedBehaviorSanitizer, and what is parallel under ThreadSanitizer.
sanitize: sanitize-address sanitize-threads
sanitize-address sanitize-threads: sanitize-%: $(STAMP)
	$(PY) -m tests.sanitizers $*

clean:
	rm -rf build dist site *.egg-info dcpy/runtime/_dispatch*.so $(RUN) $(STAMP)
