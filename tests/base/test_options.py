"""Options: defaults, then the environment, then what the caller asks for."""

from __future__ import annotations

import pytest

from dcpy.base.errors import UnknownName
from dcpy.base.option_groups.gpu import Backend, GpuOptions
from dcpy.base.options import DeviceType, InvalidOption, Options, option_names, resolve_options


def test_defaults_come_from_the_platform():
    assert resolve_options(environ={"XDG_CACHE_HOME": "/caches"}) == Options(cache_dir="/caches/dcpy")
    assert resolve_options(environ={"XDG_CACHE_HOME": "relative"}).cache_dir.endswith("/.cache/dcpy")


def test_the_environment_wins_over_defaults_and_the_caller_over_both():
    environ = {"CXX": "clang++", "DCPY_CPU_OPENMP": "off", "DCPY_CPU_FLAGS": "-O2 -g", "DCPY_CACHE_DIR": "/c"}
    options = resolve_options({"cpu.openmp": True, "cpu.fast_math": True}, environ=environ)
    assert options.cpu.compiler == "clang++"
    assert options.cpu.flags == ("-O2", "-g")
    assert (options.cpu.openmp, options.cpu.fast_math, options.cache_dir) == (True, True, "/c")


def test_options_of_a_call_go_on_top_of_those_of_the_decorator():
    decorator = resolve_options({"cpu.bounds_check": False}, environ={})
    call = resolve_options({"check": True}, base=decorator, environ={"DCPY_CHECK": "no"})
    assert (call.cpu.bounds_check, call.check) == (False, True)


def test_every_option_has_a_name():
    assert {"cpu.compiler", "cpu.flags", "gpu.backend", "device", "cache_dir", "simplify"} <= set(option_names())


def test_options_of_gpus_are_words_numbers_and_switches():
    environ = {"DCPY_GPU_BACKEND": "Simulator", "DCPY_GPU_WARP": "64", "DCPY_GPU_HOOKS": "yes", "DCPY_DEVICE": "gpu"}
    options = resolve_options({"gpu.seed": 7}, environ=environ)
    assert options.gpu == GpuOptions(Backend.SIMULATOR, warp=64, seed=7, hooks=True)
    assert options.device is DeviceType.GPU


@pytest.mark.parametrize("name", option_names())
def test_options_are_keywords_too(name):
    value = resolve_options(environ={})
    for part in name.split("."):
        value = getattr(value, part)
    assert resolve_options({name.replace(".", "_"): value}, environ={}) == resolve_options({name: value}, environ={})


@pytest.mark.parametrize(
    ("overrides", "message"),
    [({"cpu.compilr": "g++"}, "did you mean cpu_compiler"), ({"zzz": 1}, "there are cpu_compiler")],
)
def test_unknown_names_are_refused(overrides, message):
    with pytest.raises(UnknownName, match=message):
        resolve_options(overrides, environ={})


def test_a_misspelt_variable_is_ignored_with_a_hint_and_told_once():
    environ = {"DCPY_CPU_COMPILR": "g++", "DCPY_CPU_OPENMP": "no"}
    with pytest.warns(RuntimeWarning, match="DCPY_CPU_COMPILR is ignored.*did you mean DCPY_CPU_COMPILER"):
        assert not resolve_options(environ=environ).cpu.openmp
    assert not resolve_options(environ=environ).cpu.openmp  # a second warning would be an error here


def test_a_variable_of_another_program_with_our_prefix_kills_nothing():
    with pytest.warns(RuntimeWarning, match="DCPY_ZZZ is ignored.*options.md lists"):
        assert resolve_options(environ={"DCPY_ZZZ": "1"}) == resolve_options(environ={})


def test_values_of_the_wrong_type_are_refused():
    with pytest.raises(InvalidOption, match=r"DCPY_CPU_OPENMP is 'maybe', but bool is needed"):
        resolve_options(environ={"DCPY_CPU_OPENMP": "maybe"})
    with pytest.raises(InvalidOption, match="option 'cache_dir' is 3, but str is needed"):
        resolve_options({"cache_dir": 3}, environ={})
    with pytest.raises(InvalidOption, match="DCPY_GPU_WARP is 'wide', but int is needed"):
        resolve_options(environ={"DCPY_GPU_WARP": "wide"})
    with pytest.raises(InvalidOption, match=r"option 'gpu.seed' is True, but int is needed"):
        resolve_options({"gpu.seed": True}, environ={})
    with pytest.raises(InvalidOption, match="'auto' or 'cuda' or 'hip' or 'simulator' is needed"):
        resolve_options({"gpu.backend": "opencl"}, environ={})
