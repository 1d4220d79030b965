"""What goes wrong on purpose, as a resident and as a command: a hang, a crash of the process; or all is well."""

from __future__ import annotations

import os
import signal
import sys
import time


def do(what):
    if what == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    if what == "crash":
        print("about to crash", flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)


class Answers:
    def __init__(self, name):
        self.count = 0

    def __call__(self, question):
        self.count += 1
        do(question["do"])
        return {"status": "ok", "count": self.count, **question.get("row", {})}

    def ahead(self, question):
        raise ValueError("not ready for that")


if __name__ == "__main__":
    do(sys.argv[1])
