"""Shared compilation: one rank compiles, and all load, from a shared cache folder or as bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from dcpy.base.errors import CacheError, DcpyError, RanksDiffer
from dcpy.base.options import Options
from dcpy.runtime.compilers.toolchain import cpu_id
from dcpy.runtime.distributed.agreement import agree
from dcpy.runtime.distributed.error_propagation import retold, told
from dcpy.runtime.distributed.world import World
from dcpy.runtime.loading.load import Loaded, open_built
from dcpy.runtime.loading.shared_libraries import place_library
from dcpy.runtime.storage.cache import Cache
from dcpy.runtime.storage.records import NoFaithfulJson, as_json, from_json


def load_everywhere(
    world: World, options: Options, compiles: Callable[[], Loaded], codes: Sequence[CodeType] = ()
) -> Loaded:
    """Load on all ranks what rank 0 `compiles`. `codes` are the functions that it is made of.

    Where that fails, all ranks raise the error; also where rank 0 is interrupted. All ranks call this.
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
        except NoFaithfulJson as error:
            failed = DcpyError(f"a constant of the program cannot be sent to other ranks: {error}")
        except BaseException as error:
            failed = error
        if failed is not None:
            said = {"error": told(failed)}
    said = world.tell(said)
    if failed is not None:
        raise failed
    if "error" in said:
        raise retold(said["error"])
    return _loaded(world, options, loaded, said, codes)


def _loaded(
    world: World, options: Options, loaded: Loaded | None, said: Mapping[str, Any], codes: Sequence[CodeType]
) -> Loaded:
    """The program that rank 0 has `loaded`, opened by the others. An error of one rank is one of all."""
    failed: BaseException | None = None
    cache = Cache(options.cache_dir)
    path = Path(loaded.path) if loaded is not None else cache.find(said["key"])
    content = b""
    if world.most([int(path is None)])[0]:
        content = world.send(Path(loaded.path).read_bytes() if loaded is not None else b"")
    if loaded is None:
        try:
            path = path or _placed(world, cache, said["key"], said["signature"]["name"], content, options)
            loaded = open_built(path, said["key"], from_json(said["signature"], codes), said["extra"], options)
        except Exception as error:
            failed = error
    agree(world, {}, failed)
    assert loaded is not None  # no rank has failed
    return loaded


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
            help='name a common target: DCPY_CPU_FLAGS="-O3 -march=x86-64-v3"',
        )
