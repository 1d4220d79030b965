"""The registry of functions that dcpy compiles, and the interface with which their implementations emit code.

An implementation has the signature of the function it implements, after a first ``b``:

    @implements(np.clip)
    def clip(b: OpBuilder, a: Value, a_min: Value = NONE, a_max: Value = NONE) -> Value:
        "Elementwise ``min(max(a, a_min), a_max)``, promoted as NumPy does."
        return b.ufunc(np.minimum, b.ufunc(np.maximum, a, a_min), a_max)

Arguments arrive as *values* (`frontend.abstract_values.values`): `Static` what is known at compile time, `SymInt`
integers over symbols, `Scalar`, `ArrayValue`, `TupleValue`. Defaults in the signature are wrapped too: ``axis=None``
arrives as ``Static(None)``. `b` is the `OpBuilder` of `frontend.lower.op_builder`; what it offers:

    arguments     b.array(v)  b.static(v, "axis")  b.integer(v) -> Expr  b.axis(v, rank)  b.axes(v, rank)
                  b.shape_argument(v)  b.dtype_argument(v)
    fresh arrays  b.empty(shape, dtype)  b.full(shape, dtype, v)  b.generate(shape, dtype, fn)  b.copy(v)
    compute       b.ufunc(np.add, x, y)  b.elementwise(fn, *operands, dtypes=)  b.cast(v, dtype)  b.hold(v)
                  b.reduce("add", x, axes, dtype=, keepdims=)  b.library("blas.matmul", {"a": x}, {"c": out})
                  b.operator("+", x, y)  b.call(f, *values)
    views         b.subscript(x, keys)  b.transpose(x, order)  b.reshape(x, shape)  b.expand(x, axis)
                  b.broadcast_to(x, shape)
    writes        b.store(target, v)
    checks        b.check(condition, "ValueError", "message {0}", (expr,))  b.same_size(n, m, message)
                  raise b.error("message", help="what to write instead")

Methods of arrays are registered by `method`, attributes (``a.T``) by `attribute`, and what only dcpy's own Python
functions call by `operation`.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.values import VALUES, ArrayValue, Static, TupleValue, Value
from dcpy.frontend.lower.arrays.memory_order import lie_as_made
from dcpy.frontend.numpy.unsupported_functions import keyword_advice, keyword_reason

if TYPE_CHECKING:
    from dcpy.frontend.lower.op_builder import OpBuilder

Implementation = Callable[..., Value]
OrderOfResult = Callable[["OpBuilder", ArrayValue, Sequence[ArrayValue]], tuple[int, ...]]

#: The modules whose import registers the implementations of functions of a package, loaded at first use.
CATALOG: dict[str, tuple[str, ...]] = {
    "numpy": (
        "dcpy.frontend.numpy.ufuncs.error_states",
        "dcpy.frontend.numpy.ufuncs.ufunc_table",
        "dcpy.frontend.numpy.ufuncs.two_output_ufuncs",
        "dcpy.frontend.numpy.array_creation.creation",
        "dcpy.frontend.numpy.statistics.reductions",
        "dcpy.frontend.numpy.mathematics.cumulative",
        "dcpy.frontend.numpy.ufuncs.ufunc_methods",
        "dcpy.frontend.numpy.ufuncs.ufunc_at",
        "dcpy.frontend.numpy.linear_algebra.products_and_diagonals",
        "dcpy.frontend.numpy.array_manipulation.shapes",
        "dcpy.frontend.numpy.array_manipulation.joining",
        "dcpy.frontend.numpy.array_manipulation.padding",
        "dcpy.frontend.numpy.indexing.take",
        "dcpy.frontend.numpy.indexing.selection",
        "dcpy.frontend.numpy.indexing.nonzero",
        "dcpy.frontend.numpy.sorting.set_routines",
        "dcpy.frontend.numpy.linear_algebra.einsum_and_tensordot",
        "dcpy.frontend.numpy.array_creation.coordinate_grids",
        "dcpy.frontend.numpy.indexing.nditer",
        "dcpy.frontend.numpy.compile_time_queries",
        "dcpy.frontend.numpy.result_memory_order",
        "dcpy.frontend.numpy.flags",
        "dcpy.frontend.numpy.sorting.sort_and_search",
        "dcpy.frontend.numpy.statistics.averages_and_covariances",
        "dcpy.frontend.numpy.statistics.histograms",
        "dcpy.frontend.numpy.statistics.quantiles",
        "dcpy.frontend.numpy.statistics.nan_reductions",
        "dcpy.frontend.numpy.indexing.gather_and_scatter",
        "dcpy.frontend.numpy.mathematics.polynomials",
        "dcpy.frontend.numpy.mathematics.numerical_calculus",
        "dcpy.frontend.numpy.mathematics.window_functions",
        "dcpy.frontend.numpy.array_manipulation.adding_and_removing",
        "dcpy.frontend.numpy.indexing.index_construction",
        "dcpy.frontend.numpy.functional_programming",
        "dcpy.frontend.numpy.mathematics.logic_functions",
        "dcpy.frontend.numpy.array_creation.iterated_arrays",
        "dcpy.frontend.numpy.array_creation.linear_ranges",
        "dcpy.frontend.numpy.array_creation.logarithmic_ranges",
        "dcpy.frontend.numpy.array_manipulation.bit_packing",
        "dcpy.frontend.numpy.array_manipulation.splitting",
        "dcpy.frontend.numpy.indexing.index_tricks",
        "dcpy.frontend.numpy.sorting.counting",
        "dcpy.frontend.numpy.linear_algebra.decompositions",
        "dcpy.frontend.numpy.linear_algebra.norms_and_powers",
        "dcpy.frontend.numpy.linear_algebra.stacked_vector_products",
        "dcpy.frontend.numpy.fourier.transforms",
        "dcpy.frontend.numpy.fourier.multidimensional_transforms",
        "dcpy.frontend.numpy.array_methods",
        "dcpy.frontend.numpy.array_manipulation.reinterpretation",
    ),
    "numpy.random": (
        "dcpy.frontend.numpy.random.generator_construction",
        "dcpy.frontend.numpy.random.distributions",
        "dcpy.frontend.numpy.random.integers",
        "dcpy.frontend.numpy.random.multivariate_distributions",
        "dcpy.frontend.numpy.random.permutations",
        "dcpy.frontend.numpy.random.legacy",
    ),
    "numpy.polynomial": (
        "dcpy.frontend.numpy.mathematics.polynomial_series",
        "dcpy.frontend.numpy.mathematics.polynomial_weights",
        "dcpy.frontend.numpy.mathematics.power_series",
        "dcpy.frontend.numpy.mathematics.pseudo_vandermonde",
    ),
    "builtins": (
        "dcpy.frontend.python.builtins",
        "dcpy.frontend.python.min_max_sorted",
        "dcpy.frontend.python.texts_of_numbers",
        "dcpy.frontend.python.sets",
        "dcpy.frontend.python.rounding",
        "dcpy.frontend.python.endless_iterators",
    ),
    "dcpy": ("dcpy.frontend.dataflow.function_lowering",),
    "dcpy.comm": (
        "dcpy.frontend.comm.point_to_point",
        "dcpy.frontend.comm.collectives",
        "dcpy.frontend.comm.process_grids",
        "dcpy.frontend.comm.block_redistribution",
    ),
    "dcpy.distributed": ("dcpy.frontend.comm.array_distribution",),
    "mpi4py.MPI": ("dcpy.frontend.comm.mpi4py_methods",),
    "scipy.special": ("dcpy.frontend.scipy.special", "dcpy.frontend.scipy.special_of_arrays"),
    "scipy.linalg": (
        "dcpy.frontend.scipy.linalg",
        "dcpy.frontend.scipy.banded_systems",
        "dcpy.frontend.scipy.lapack_memory_order",
    ),
    "scipy.ndimage": ("dcpy.frontend.scipy.ndimage",),
    "math": (
        "dcpy.frontend.python.math_functions",
        "dcpy.frontend.python.math_integer_functions",
        "dcpy.frontend.python.math_reductions",
        "dcpy.frontend.python.cmath_functions",
    ),
}


#: Packages that dcpy does without: their functions are loaded in a process that has imported the package itself.
OPTIONAL = tuple(package for package in CATALOG if package.startswith(("scipy.", "mpi4py.")))


@dataclass(frozen=True)
class RegisteredFunction:
    """A registered implementation."""

    name: str
    call: Implementation
    original: Any = None  # what it implements; None: of an attribute, or an operation of dcpy's own
    takes_lists: bool = False  # whether it makes arrays of lists itself

    @functools.cached_property
    def of_numpy(self) -> bool:
        """Return whether lists become arrays on their way in."""
        modules = ("dcpy.frontend.numpy.", "dcpy.frontend.scipy.")
        return not self.takes_lists and self.call.__module__.startswith(modules)

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The signature of `call` without ``b``, worked out when it is needed first: there are hundreds of entries."""
        signature = inspect.signature(self.call)
        parameters = [
            p.replace(default=p.default.value) if isinstance(p.default, Static) else p
            for p in list(signature.parameters.values())[1:]
        ]
        return signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)


_FUNCTIONS: dict[Any, RegisteredFunction] = {}
_METHODS: dict[str, RegisteredFunction] = {}
_ATTRIBUTES: dict[str, RegisteredFunction] = {}
_ORDERS: dict[Any, OrderOfResult] = {}
_LOADED: set[str] = set()


def implements(*functions: Any, takes_lists: bool = False) -> Callable[[Implementation], Implementation]:
    """Register the decorated function as the implementation of Python callables (which must be hashable).

    `takes_lists`: it gets lists whose length is known at run time only as they are; else NumPy's get arrays.
    """

    def register(call: Implementation) -> Implementation:
        for function in functions:
            _FUNCTIONS[function] = RegisteredFunction(full_name(function), call, function, takes_lists)
        return call

    return register


def method(*names: str) -> Callable[[Implementation], Implementation]:
    """Register a method of arrays and NumPy scalars; it gets the owner after ``b``."""

    def register(call: Implementation) -> Implementation:
        for name in names:
            _METHODS[name] = RegisteredFunction(name, call, getattr(numpy.ndarray, name, None))
        return call

    return register


def attribute(*names: str) -> Callable[[Implementation], Implementation]:
    """Register an attribute of arrays and NumPy scalars: ``shape``, ``T``, ``real``."""

    def register(call: Implementation) -> Implementation:
        for name in names:
            _ATTRIBUTES[name] = RegisteredFunction(name, call)
        return call

    return register


def results_lie(*functions: Any) -> Callable[[OrderOfResult], OrderOfResult]:
    """Registers how results of functions lie in NumPy's memory: their axes, from the slowest to the fastest."""

    def register(order: OrderOfResult) -> OrderOfResult:
        _ORDERS.update(dict.fromkeys(functions, order))
        return order

    return register


def operation(call: Implementation) -> Callable[..., Any]:
    """Register what NumPy has no function for: bodies that are `written_in_python` name it, and pass no ``b``.

    Such a body can emit no library node by itself. An operation is its own key in the registry, so that there is no
    internal function; users cannot name it, and `implemented` leaves it out.
    """
    _FUNCTIONS[call] = RegisteredFunction(call.__name__, call)
    return call


def find(function: Any) -> RegisteredFunction | None:
    """The implementation of a Python callable, or None."""
    _load("numpy")
    _load("builtins")
    _load("math")
    module = getattr(function, "__module__", None) or ""
    if module.startswith("numpy.random"):
        _load("numpy.random")  # which costs the import of NumPy's
    elif module.startswith("numpy.polynomial"):
        _load("numpy.polynomial")  # as above
    elif module in ("dcpy.comm", "dcpy.distributed"):
        _load(module)
    elif module.startswith("dcpy."):
        _load("dcpy")
    for package in OPTIONAL:
        if package in sys.modules:
            _load(package)
    return registered(function)


def registered(function: Any) -> RegisteredFunction | None:
    """The implementation of a Python callable among those that are loaded: what modules of the catalog ask."""
    try:
        return _FUNCTIONS.get(function)
    except TypeError:  # not hashable: nothing that was registered
        return None


def find_member(owner: Any, name: str) -> RegisteredFunction | None:
    """The implementation of a method, or of a property, of an object that is known when a program is compiled."""
    package = type(owner).__module__
    if package not in OPTIONAL or package not in sys.modules:
        return None
    return find(getattr(type(owner), name, None))


def find_method(name: str) -> RegisteredFunction | None:
    """The implementation of a method of arrays, or None."""
    _load("numpy")
    return _METHODS.get(name)


def find_attribute(name: str) -> RegisteredFunction | None:
    """The implementation of an attribute of arrays, or None."""
    _load("numpy")
    return _ATTRIBUTES.get(name)


def implemented() -> dict[str, inspect.Signature]:
    """Names and signatures of all functions that dcpy compiles, sorted: what the reference pages list."""
    for package in CATALOG:
        if package not in OPTIONAL or package in sys.modules:
            _load(package)
    public = (entry for entry in _FUNCTIONS.values() if entry.original is not None and not _is_own(entry.original))
    return {entry.name: entry.signature for entry in sorted(public, key=lambda entry: entry.name)}


def _is_own(function: Any) -> bool:
    """Return whether a function is the frontend's, which users cannot name."""
    return (getattr(function, "__module__", None) or "").startswith("dcpy.frontend.")


def close_names(name: str) -> tuple[str, ...]:
    """Implemented functions with a name like this one."""
    return tuple(difflib.get_close_matches(name, implemented(), n=2, cutoff=0.75))


def method_names() -> tuple[str, ...]:
    """Names of all methods and attributes of arrays that dcpy compiles."""
    _load("numpy")
    return tuple(sorted({*_METHODS, *_ATTRIBUTES}))


def call_entry(b: OpBuilder, entry: RegisteredFunction, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """Bind arguments as Python does and run the implementation; `FrontendError` where they do not fit."""
    try:
        bound = entry.signature.bind(*args, **_without_defaults(entry, kwargs))
    except TypeError as error:
        raise _misfit(entry, str(error), args, kwargs) from None
    bound.apply_defaults()
    arguments = {name: _as_value(value) for name, value in bound.arguments.items()}
    if entry.of_numpy:
        arguments = {name: _as_array(b, value) for name, value in arguments.items()}
    positional: list[Value] = []
    keywords: dict[str, Value] = {}
    for name, parameter in entry.signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional += (_as_array(b, value) if entry.of_numpy else value for value in bound.arguments[name])
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            keywords |= bound.arguments[name]
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            keywords[name] = arguments[name]
        else:
            positional.append(arguments[name])
    result = entry.call(b, *positional, **keywords)
    if entry.original is not None and entry.original in _ORDERS:
        _lie_as_numpy(b, _ORDERS[entry.original], result, positional, keywords)
    return result


def _lie_as_numpy(
    b: OpBuilder, order: OrderOfResult, result: Value, arguments: Sequence[Value], keywords: Mapping[str, Value]
) -> None:
    """Say in which order new arrays are that a function gives, those that are no ``out``."""
    operands = [value for value in arguments if isinstance(value, ArrayValue)]
    given = [*operands, *(value for value in keywords.values() if isinstance(value, ArrayValue))]
    for found in result.items if isinstance(result, TupleValue) else (result,):
        if isinstance(found, ArrayValue):
            lie_as_made(b, found, order(b, found, operands), given)


def _misfit(
    entry: RegisteredFunction, reason: str, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> FrontendError:
    unknown = [name for name in kwargs if name not in entry.signature.parameters]
    near = difflib.get_close_matches(unknown[0], entry.signature.parameters, n=1) if unknown else []
    takes = f"dcpy supports {entry.name}{_display(entry.signature)}"
    joined = "() " if reason.startswith(("got", "missing", "takes", "too")) else ": "
    raises = () if _numpy_takes(entry.original, args, kwargs) else ("NumPy raises TypeError here",)
    first = next(iter(entry.signature.parameters), "")
    one_tuple = f"give all arrays as one tuple: {entry.name}((x, y))" if first in ("tup", "arrays") else ""
    instead = f"did you mean {near[0]}=?" if near else keyword_advice(entry.name, unknown) or one_tuple or takes
    notes = (*((takes,) if near else ()), *raises)
    return FrontendError(entry.name + joined + reason, notes=notes, help=instead)


def _numpy_takes(function: Any, args: Sequence[Value], kwargs: Mapping[str, Value]) -> bool:
    """Return whether a function of NumPy's takes so many arguments with these keywords; True if NumPy does not say."""
    parameters = original_parameters(function)
    try:
        inspect.Signature(list(parameters.values())).bind(*args, **kwargs)
    except TypeError:
        return not parameters
    return True


def _without_defaults(entry: RegisteredFunction, kwargs: Mapping[str, Value]) -> dict[str, Value]:
    """Keywords that NumPy has and dcpy lacks (``like=``, ``device=``) may be given with their defaults."""
    taken = entry.signature.parameters
    if all(name in taken for name in kwargs) or any(p.kind is p.VAR_KEYWORD for p in taken.values()):
        return dict(kwargs)
    known = original_parameters(entry.original)
    kept = {}
    for name, value in kwargs.items():
        if name in taken or name not in known:
            kept[name] = value
        elif not is_default(known[name].default, value):
            reason = keyword_reason(entry.name, name)
            raise FrontendError(
                f"{entry.name} takes {name}={known[name].default!r} only",
                notes=(reason,) if reason else (),
                help=f"dcpy supports {entry.name}{_display(entry.signature)}",
            )
    return kept


def original_parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    """NumPy's own parameters of a function; none where this version of NumPy does not say."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def is_default(default: Any, value: Value) -> bool:
    """Return whether a keyword was given what NumPy takes without it."""
    if not isinstance(value, Static):
        return False
    known = value.value
    same = type(known) is type(default) and isinstance(known, tuple) and known == default
    return value == Static(default) or same or known is numpy._NoValue


def _shown(found: Any) -> str:
    """An object that has no name: as it prints, without the address that Python prints by itself."""
    shown = repr(found)
    return f"{type(found).__module__}.{type(found).__qualname__} object" if " object at 0x" in shown else shown


def full_name(function: Any) -> str:
    """``numpy.clip``, ``math.sqrt``, ``abs``, ``numpy.mgrid``: how messages call a Python callable."""
    owner = getattr(function, "__self__", None)
    if owner is not None and _is_ufunc(owner):  # np.add.outer
        return f"{full_name(owner)}.{function.__name__}"
    if type(function).__name__ == "fortran":  # SciPy's LAPACK
        return f"scipy.linalg.lapack.{str(function.__name__).rpartition(' ')[2]}"
    if not hasattr(function, "__name__"):  # np.mgrid
        return next((f"numpy.{name}" for name, found in vars(numpy).items() if found is function), _shown(function))
    module = getattr(function, "__module__", None) or (_module_of_ufunc(function) if _is_ufunc(function) else "")
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if name is None:  # an instance: what its package calls it
        module = module.partition(".")[0]
        public = vars(sys.modules[module]) if module in sys.modules else {}
        name = next((key for key, value in public.items() if value is function), type(function).__name__)
    if module.startswith("dcpy.") and module != "dcpy.comm":  # what users import is flat, but for the local view
        module = "dcpy"
    if module.startswith(("numpy.", "scipy.")):  # numpy.random._generator
        module = _public_module(function, module, str(name))
    return str(name) if module in ("builtins", "") else f"{module}.{name}"


def _public_module(function: Any, module: str, name: str) -> str:
    """The shortest of the packages around a module that has the function under its name: what users import."""
    parts = module.split(".")
    packages = (".".join(parts[: k + 1]) for k in range(len(parts)))
    found = (package for package in packages if getattr(sys.modules.get(package), name, None) is function)
    return next(found, ".".join(part for part in parts if not part.startswith("_")))


def _is_ufunc(function: Any) -> bool:
    return type(function).__name__ == "ufunc"


def _module_of_ufunc(function: Any) -> str:
    """The package that defines it: ufuncs do not have it as an attribute."""
    name = str(function.__name__)
    known = getattr(sys.modules.get("scipy.special"), name, None)
    return "scipy.special" if known is function and getattr(numpy, name, None) is not known else "numpy"


def _as_array(b: OpBuilder, value: Any) -> Any:
    """Return the array that NumPy makes of a list whose length is known only at run time; other values as they are."""
    return b.array(value) if isinstance(value, ListValue) else value


def _as_value(value: Any) -> Any:
    """Defaults of an implementation are plain Python objects; arguments are values already."""
    return value if isinstance(value, VALUES) else Static(value)


def _display(signature: inspect.Signature) -> str:
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=plain))


def _load(package: str) -> None:
    if package not in _LOADED:
        for module in CATALOG[package]:
            importlib.import_module(module)
        _LOADED.add(package)  # last: an interrupted import is repeated, and another thread waits for those under way
