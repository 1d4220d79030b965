"""Hand-written programs in C++, built as generated ones are: the tests of the runtime need no compiler of dcpy's."""

from __future__ import annotations

from pathlib import Path

from dcpy.base.options import Options, resolve_options
from dcpy.codegen.artifact import Artifact, Signature, Unit
from dcpy.runtime.dispatch import Dispatcher, encode
from dcpy.runtime.loading.load import Loaded

HEADER = "#include <cstdint>\n#define ARRAY(type, i) ((type *)args[i])\n#define RESULT(type, i) ((type *)results[i])\n"


def artifact_of(signature: Signature, body: str, *, shapes: str = "", **rest: object) -> Artifact:
    """A program whose entry runs `body` and whose results function runs `shapes`."""
    n = signature.name
    entry = (
        f'extern "C" int32_t {n}_entry(void *const *args, const int64_t *symbols, void *const *results, int64_t *error)'
    )
    sizes = f'extern "C" void {n}_results(void *const *args, const int64_t *symbols, int64_t *numbers)'
    text = f"{HEADER}{entry} {{\n{body}\nreturn 0;\n}}\n{sizes} {{\n{shapes}\n}}\n"
    return Artifact(signature, (cpp("program.cpp", text),), **rest)  # type: ignore[arg-type]


def cpp(name: str, text: str) -> Unit:
    """A file of C++."""
    return Unit(name, text, "C++", ("-std=c++17",))


def options_in(folder: Path, **overrides: object) -> Options:
    return resolve_options({"cache_dir": str(folder), **{k.replace("__", "."): v for k, v in overrides.items()}})


def nothing_fits(values: tuple[object, ...]) -> str:
    return "miss"


def dispatcher_for(
    loaded: Loaded, *, parameters: object = None, closure: tuple = (), guards: tuple = (), **rest: object
):
    """A dispatcher with one specialization, which answers ``"miss"`` where it does not fit."""
    names = tuple((arg.name,) for arg in loaded.signature.args) if parameters is None else parameters
    found = Dispatcher(loaded.signature.name, names, nothing_fits, **rest)
    found.add(
        encode(
            loaded.signature, loaded.entry, loaded.results, closure=closure, guards=guards, keepalive=loaded.library
        )
    )
    return found
