"""Self messages: sends and receives of a single rank without MPI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.base.errors import CommunicationError

NDArray = np.ndarray[Any, Any]
ANY_TAG = -1  # of receives, as in `dcpy.comm`


@dataclass(eq=False)
class WaitingMessage:
    """A message, or a receive, that has not met the other yet; what is sent is a copy."""

    array: NDArray
    tag: int
    is_met: bool = False

    def takes(self, message: WaitingMessage) -> bool:
        """Return whether a receive is for a message: of its tag, or of any."""
        return self.tag in (message.tag, ANY_TAG)

    def Wait(self) -> None:
        """Wait as mpi4py's requests do. Raises `CommunicationError` where it would wait for ever."""
        if not self.is_met:
            raise CommunicationError(
                "a rank alone waits for a message to itself, which it does not send",
                help="start the message by Isend, or the receive by Irecv, before",
            )


_sent: list[WaitingMessage] = []
_taken: list[WaitingMessage] = []


def start_send(array: NDArray, tag: int) -> WaitingMessage:
    """Start a send, which is complete at once; a receive may come later."""
    message = WaitingMessage(np.array(array), tag, is_met=True)
    if not _meet(message):
        _sent.append(message)
    return message


def start_receive(array: NDArray, tag: int) -> WaitingMessage:
    """A receive, complete where the message was there already."""
    receive = WaitingMessage(array, tag)
    other = next((each for each in _sent if receive.takes(each)), None)
    if other is None:
        _taken.append(receive)
    else:
        _sent.remove(other)
        _deliver(other, receive)
    return receive


def send(array: NDArray, tag: int) -> None:
    """Wait for its receive, which has to be started."""
    if not _meet(WaitingMessage(np.array(array), tag)):
        WaitingMessage(array, tag).Wait()


def receive(array: NDArray, tag: int) -> None:
    """Take what was sent before."""
    taken = start_receive(array, tag)
    if not taken.is_met:
        _taken.remove(taken)
    taken.Wait()


def _meet(message: WaitingMessage) -> bool:
    """Give a message to the first receive that takes it."""
    other = next((each for each in _taken if each.takes(message)), None)
    if other is not None:
        _taken.remove(other)
        _deliver(message, other)
    return other is not None


def _deliver(message: WaitingMessage, receive: WaitingMessage) -> None:
    if message.array.size != receive.array.size or message.array.dtype != receive.array.dtype:
        sent, taken = (f"{each.array.dtype}{list(each.array.shape)}" for each in (message, receive))
        raise CommunicationError(f"a rank alone sends {sent} to itself, and receives {taken}")
    receive.array[...] = message.array.reshape(receive.array.shape)
    receive.is_met = True
