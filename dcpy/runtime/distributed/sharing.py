"""One rank compiles, and all load: through the folder of compiled programs where they share it, else as bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from dcpy.base import errors
from dcpy.base.errors import CacheError, DcpyError, RanksDiffer
from dcpy.base.options import Options
from dcpy.runtime.cache import Cache
from dcpy.runtime.distributed.world import World
from dcpy.runtime.libraries import place_library
from dcpy.runtime.load import Loaded, open_built
from dcpy.runtime.records import Unfaithful, as_json, from_json
from dcpy.runtime.toolchain import cpu_id


def load_everywhere(
    world: World, options: Options, compiles: Callable[[], Loaded], codes: Sequence[CodeType] = ()
) -> Loaded:
    """What rank 0 `compiles`, on all ranks. `codes` are the functions that it is made of.

    Where that fails, all ranks raise the error. All ranks call this.
    """
    if world.size == 1:
        return compiles()
    _require_like_processors(world, options)
    loaded: Loaded | None = None
    failed: BaseException | None = None
    said: dict[str, Any] = {}
    if world.rank == 0:
        try:
            loaded = compiles()
            said = {"key": loaded.key, "signature": as_json(loaded.signature, codes), "extra": loaded.extra}
        except Unfaithful as error:
            failed = DcpyError(f"a constant of the program cannot be told to other ranks: {error}")
        except Exception as error:
            failed = error
        if failed is not None:
            said = {"error": _described(failed)}
    said = world.tell(said)
    if failed is not None:
        raise failed
    if "error" in said:
        raise _remade(*said["error"])
    cache = Cache(options.cache_dir)
    path = Path(loaded.path) if loaded is not None else cache.find(said["key"])
    if world.most([int(path is None)])[0]:
        content = world.send(Path(loaded.path).read_bytes() if loaded is not None else b"")
        path = path or _placed(world, cache, said["key"], said["signature"]["name"], content, options)
    if loaded is not None:
        return loaded
    assert path is not None  # it was placed
    return open_built(path, said["key"], from_json(said["signature"], codes), said["extra"], options)


def _placed(world: World, cache: Cache, key: str, name: str, content: bytes, options: Options) -> Path:
    try:
        return place_library(cache, key, name, content, options)
    except OSError as error:
        raise CacheError(
            f"rank {world.rank} has no folder for compiled programs: {error.strerror}",
            help="name a folder with free space in DCPY_CACHE_DIR",
        ) from error


def _require_like_processors(world: World, options: Options) -> None:
    """Machine code that is made for one processor runs on all of its kind."""
    if not any(flag.endswith("=native") for flag in options.cpu.flags):
        return
    found = world.all(cpu_id())
    if len(set(found)) > 1:
        raise RanksDiffer(
            "the ranks are on processors of several kinds, and one of them compiles for its own",
            notes=tuple(f"rank {rank}: {kind}" for rank, kind in enumerate(found)),
            help='say for which: DCPY_CPU_FLAGS="-O3 -march=x86-64-v3"',
        )


def _described(error: BaseException) -> list[Any]:
    if not isinstance(error, DcpyError):
        return ["DcpyError", f"{type(error).__name__}: {error}", [], ""]
    return [type(error).__name__, error.message, list(error.notes), error.help]


def _remade(kind: str, message: str, notes: Sequence[str], help: str) -> DcpyError:
    """The error of rank 0, as another rank raises it."""
    found = getattr(errors, kind, None)
    cls = found if isinstance(found, type) and issubclass(found, DcpyError) else DcpyError
    return cls(message, notes=(*notes, "rank 0 found it, which compiles for all"), help=help)
