from collections.abc import Callable
from typing import Any

class Dispatcher:
    def __init__(
        self,
        name: str,
        parameters: tuple[tuple[Any, ...], ...],
        miss: Callable[[tuple[Any, ...]], Any],
        positional_only: int = 0,
        keyword_only: int = 0,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def add(self, encoded: tuple[Any, ...], /) -> None: ...
    def dispatch(self, values: tuple[Any, ...], /) -> Any: ...
    @property
    def specializations(self) -> int: ...
