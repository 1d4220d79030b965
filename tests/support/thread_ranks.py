"""Ranks as threads, for what runs outside of compiled programs: worlds without MPI that talk to each other."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from dcpy.runtime.distributed.world import World


class ThreadWorld(World):
    """One rank of several in this process."""

    def __init__(self, rank, size, board, barrier):
        super().__init__(rank, size, None)
        object.__setattr__(self, "board", board)
        object.__setattr__(self, "barrier", barrier)

    def all(self, value):
        self.board[self.rank] = value
        self.barrier.wait(10)
        found = list(self.board)
        self.barrier.wait(10)
        return found

    def most(self, numbers):
        return [max(each) for each in zip(*self.all(list(numbers)), strict=True)]

    def any_of(self, says, seconds=0.0):
        return any(self.all(says))

    def send(self, content, root=0):
        return self.all(content)[root]


def on_threads(size, work):
    """What ``work(world)`` returns, or raises, on each rank."""
    board, barrier = [None] * size, threading.Barrier(size)
    worlds = [ThreadWorld(rank, size, board, barrier) for rank in range(size)]

    def run(world):
        try:
            return work(world)
        except BaseException as error:
            return error

    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(run, worlds))
