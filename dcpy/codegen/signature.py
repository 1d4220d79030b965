"""The calling convention of an SDFG: its arguments, results and assumptions as the dispatcher checks them."""

from __future__ import annotations

from dataclasses import replace

from dcpy.base.assumptions import NOTHING
from dcpy.base.errors import CodegenError
from dcpy.codegen import artifact
from dcpy.codegen.artifact import Arg, ArrayArg, Dim, IntegerArg, Linear, ScalarArg, Signature
from dcpy.ir.analysis.dataflow.def_use import Uses, desc_symbols
from dcpy.ir.analysis.dataflow.entry_symbols import known_at_entry
from dcpy.ir.data import Array, Data, Scalar, Space, packed_strides
from dcpy.ir.sdfg import Result, Sdfg
from dcpy.ir.symbolic import ZERO, Expr


def require_one_rank(sdfg: Sdfg) -> None:
    """`CodegenError` for a distributed program, which is not yet that of one rank."""
    arrays = (desc for name in Uses(sdfg).containers() if isinstance(desc := sdfg.desc(name), Array))
    homes = any(getattr(node, "home", None) is not None for node in sdfg.body.walk_nodes())
    if sdfg.grids and (homes or any(desc.distribution is not None for desc in arrays)):
        grids = ", ".join(map(repr, sdfg.grids))
        raise CodegenError(
            f"{sdfg.name!r} is distributed over the ranks of {grids}, and is not the program of one of them",
            span=sdfg.span,
            help="call sdfg.localize() first; sdfg.erased() is the same program for one rank",
        )


def default_signature(sdfg: Sdfg) -> Signature:
    """Return the calling convention that the descriptors give, for programs without refined call types.

    Symbols are in the SDFG's order. That of one rank among others takes symbols that no argument tells behind its
    arguments, whose sizes it does not check: these follow from where the rank is.
    Raises `CodegenError` for arguments that the dispatcher cannot check, and for a program of several ranks.
    """
    require_one_rank(sdfg)
    uses = Uses(sdfg)
    args = tuple(_argument(sdfg, name, uses) for name in sdfg.arguments)
    sizes = tuple(dim.symbol for arg in args if isinstance(arg, ArrayArg) for dim in arg.dims)
    if sdfg.grids:
        told = [name for name in sdfg.symbols if name not in sdfg.arguments]
        args += tuple(IntegerArg(name, sdfg.symbols[name].numpy_name) for name in told)
    symbols = tuple(dict.fromkeys((*sdfg.symbols, *filter(None, sizes))))
    results = tuple(_result(sdfg, result, uses) for result in sdfg.results)
    structure = sdfg.structure
    if structure is None and results:
        structure = 0 if len(results) == 1 else tuple(range(len(results)))
    assumes = tuple(map(linear, sdfg.assumptions))
    tested = ((name, replace(assumed, typical=None)) for name, assumed in sdfg.assumed.items())
    assumed = tuple((name, found) for name, found in tested if found != NOTHING)
    return Signature(sdfg.name, args, symbols, results, structure, assumes=assumes, assumed=assumed)


def called_by_host(signature: Signature) -> Signature:
    """The signature of a program that gets all arrays from the host, and puts them into any memory."""
    args = tuple(replace(arg, on_device=False) if isinstance(arg, ArrayArg) else arg for arg in signature.args)
    results = (replace(r, on_device=False) if isinstance(r, artifact.FreshArray) else r for r in signature.results)
    return replace(signature, args=args, results=tuple(results)) if signature.on_device else signature


def linear(fact: Expr) -> Linear:
    """``fact >= 0`` as the dispatcher tests it. Raises `CodegenError` for what is not linear in symbols."""
    names = {name: fact.linear_in(name) for name in fact.symbols}
    factors = tuple((name, None if form is None else form[0].constant) for name, form in names.items())
    rest = fact.subs(dict.fromkeys(fact.symbols, 0)).constant if all(factor for _, factor in factors) else None
    if rest is None:
        raise CodegenError(f"the program assumes that {fact} is not negative, which is not linear in symbols")
    return Linear(tuple((name, factor) for name, factor in factors if factor is not None), rest)


def _argument(sdfg: Sdfg, name: str, uses: Uses) -> Arg:
    if name in sdfg.symbols:
        return IntegerArg(name, sdfg.symbols[name].numpy_name)
    desc = sdfg.containers[name]
    if isinstance(desc, Scalar):
        return ScalarArg(name, desc.dtype.numpy_name, converts=True)
    if not isinstance(desc, Array):
        raise CodegenError(f"the argument {name!r} is a {type(desc).__name__.lower()}", span=desc.span)
    written = any(uses.writers(other) for other in uses.overlapping(name))
    order, strides = _order(desc)
    if strides and any(stride.name is None and stride is not ZERO for stride in strides):
        raise CodegenError(
            f"the strides of {name!r} are neither packed nor symbols: {', '.join(map(str, strides))}", span=desc.span
        )
    if sdfg.grids:
        dims = tuple(Dim(sdfg.fresh_name(f"{name}_{axis}")) for axis in range(len(desc.shape)))
    else:
        dims = tuple(_dim(name, size) for size in desc.shape)
    names = tuple(stride.name or "" for stride in strides)
    on_device = desc.space is Space.GLOBAL
    axes = None if order or strides else desc.axes
    return ArrayArg(name, desc.dtype.numpy_name, dims, order, names, written, desc.alias, on_device, axes)


def _order(desc: Array) -> tuple[str, tuple[Expr, ...]]:
    for order in ("C", "F"):
        if desc.strides == packed_strides(desc.shape, order):
            return order, ()
    return "", () if desc.axes is not None else desc.strides


def _dim(name: str, size: Expr) -> Dim:
    if size.constant is not None:
        return Dim(constant=size.constant)
    offset = size.subs(dict.fromkeys(size.symbols, 0)) if size.is_linear else ZERO
    symbol = (size - offset).name
    if symbol is not None and offset.constant is not None and abs(offset.constant) < 2**62:
        return Dim(symbol, offset=offset.constant)
    raise CodegenError(
        f"a size of the argument {name!r} is {size}: sizes of arguments must be numbers, or a symbol plus a number",
        help="name the size with a symbol of its own",
    )


def _axes(desc: Data) -> tuple[int, ...]:
    """The axes of a result from the slowest to the fastest; none where it is in C order."""
    found = desc.axes if isinstance(desc, Array) else None
    return () if found is None or found == tuple(range(len(found))) else found


def _result(sdfg: Sdfg, result: Result, uses: Uses) -> artifact.Result:
    match result.kind:
        case "array":
            desc = sdfg.desc(result.container)
            axes = _axes(desc)
            if not known_at_entry(sdfg, uses, desc_symbols(desc)):
                return artifact.OwnedArray(desc.dtype.numpy_name, len(desc.shape), axes)
            on_device = isinstance(desc, Array) and desc.space is Space.GLOBAL
            return artifact.FreshArray(desc.dtype.numpy_name, len(desc.shape), on_device, axes)
        case "scalar" | "python":
            dtype = sdfg.desc(result.container).dtype
            return artifact.ScalarResult(dtype.numpy_name, python=result.kind == "python")
        case "argument":
            return artifact.ArgumentResult(sdfg.arguments.index(result.container))
        case "view" | "readonly":
            view = sdfg.desc(result.container)
            root, read_only = uses.root(result.container), result.kind == "readonly"
            kind, rank = view.dtype.numpy_name, len(view.shape)
            if root in sdfg.arguments:
                return artifact.ViewResult(sdfg.arguments.index(root), kind, rank, read_only=read_only)
            if not known_at_entry(sdfg, uses, desc_symbols(sdfg.desc(root))):
                raise CodegenError(
                    f"the result {result.container!r} is a view of {root!r}, whose size is found out while it runs",
                    span=view.span,
                )
            index = [other.container for other in sdfg.results].index(root)
            return artifact.ViewResult(index, kind, rank, of_result=True, read_only=read_only)
        case _:
            return artifact.ConstantResult(result.value)
