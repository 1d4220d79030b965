"""Interrupted imports: Ctrl-C while the first program loads what implements NumPy leaves nothing half loaded."""

import subprocess
import sys

SCRIPT = """
import importlib.abc, sys
from dcpy.frontend import implements

class Once(importlib.abc.MetaPathFinder):
    "Interrupts the import of each module of an implementation, the first time it is asked for."
    seen = set()
    def find_spec(self, name, path=None, target=None):
        if name.startswith("dcpy.frontend.") and name not in self.seen:
            self.seen.add(name)
            raise KeyboardInterrupt

def interrupted():
    try:
        implements.implemented()
    except KeyboardInterrupt:
        return True
    return False

if "interrupted" in sys.argv:
    sys.meta_path.insert(0, Once())
    count = sum(iter(interrupted, False))
    assert count > 40, count
print(*implements.implemented(), *implements.method_names(), sep="\\n")
"""


def test_an_interrupted_import_of_implementations_is_repeated():
    """Each of their modules is interrupted once; afterwards all functions and methods are there."""
    texts = [
        subprocess.run([sys.executable, "-c", SCRIPT, *words], capture_output=True, text=True, check=True).stdout
        for words in ((), ("interrupted",))
    ]
    assert texts[0] == texts[1]
    assert "numpy.einsum" in texts[0].split()
