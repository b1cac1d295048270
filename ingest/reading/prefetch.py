"""Runs an iterator in a separate thread, up to a fixed number of items ahead of its consumer."""

import queue
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar, cast

Item = TypeVar("Item")

_END = object()


@contextmanager
def run_ahead(items: Iterable[Item], depth: int) -> Iterator[Iterator[Item]]:
    """Iterate over `items` in a thread, up to `depth` items ahead of the block that uses them.

    An exception from `items` is raised instead of the next item. If the block is left early, the thread stops
    at its next item. This function waits until then, because the thread may be using connections that the
    caller will close.
    """
    waiting: queue.Queue[object] = queue.Queue(maxsize=depth)
    stopped = threading.Event()

    def hand_over(item: object) -> None:
        while not stopped.is_set():
            try:
                waiting.put(item, timeout=0.2)
            except queue.Full:
                continue
            return

    def work() -> None:
        try:
            for item in items:
                hand_over(item)
                if stopped.is_set():
                    return
            hand_over(_END)
        except BaseException as error:  # raised again in the consumer's thread
            hand_over(error)

    def receive() -> Iterator[Item]:
        while (item := waiting.get()) is not _END:
            if isinstance(item, BaseException):
                raise item
            yield cast(Item, item)

    thread = threading.Thread(target=work, name="ahead", daemon=True)
    thread.start()
    try:
        yield receive()
    finally:
        stopped.set()
        thread.join()
