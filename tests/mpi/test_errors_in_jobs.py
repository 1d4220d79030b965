"""Jobs in which a call fails: all ranks raise the same class with the same text, and the next call is right."""

from __future__ import annotations

import pytest

from tests.mpi.test_jobs import ended, start

pytestmark = pytest.mark.mpi_job
HEAD = """
        def raised(call, *arguments, **named):
            try:
                call(*arguments, **named)
            except BaseException as error:
                mine = [type(error).__name__, [each.__name__ for each in type(error).__mro__[:3]], str(error)]
            else:
                mine = ["nothing"]
            said = g.world.all(mine)
            assert said == [mine] * len(said), said
            print(f"rank {me}: all raise {mine[0]}", flush=True)
            return mine[-1]
"""


def test_what_fails_is_the_same_error_on_all_ranks(tmp_path):
    """While it is compiled, of the arguments of one rank, and while it runs."""
    code, text = ended(start(tmp_path, f"""{HEAD}
        def compiled(function):
            return dcpy.program(function, distributed=True)

        @compiled
        def unknown(A): A[:] = np.no_such_function(A)

        @compiled
        def shapes(A): A[:] = A + np.ones((2, 5, 7))[:, :3] + np.ones((4, 4))

        @compiled
        def index(A): return A[0, 0]

        @compiled
        def type_of(A): A[:] = A + "text"

        @compiled
        def unsupported(A): A[:] = eval("A")

        @compiled
        def singular(M): return np.linalg.inv(M)

        @compiled
        def picks(A, k): return A.sum() + np.arange(3.0)[k]

        right()
        for program in (unknown, shapes, index, type_of, unsupported):
            raised(program, A)
        raised(singular, np.zeros((2, 2)))
        assert "index 5 is out of bounds" in raised(picks, A, 5)
        assert "missing a required argument" in raised(f, *([2.0, A] if me == 1 else [2.0, A, B]))  # on one rank
        assert "unexpected keyword" in raised(f, 2.0, A, B, **({{"C": B}} if me else {{}}))
        other = dcpy.zeros(9 if me else 10, on=dcpy.on(g, "block"))
        assert "argument 'B' has the shape (9,)" in raised(f, 2.0, A if me else other, B)
        class OnDevice:
            __cuda_array_interface__ = A.local.__array_interface__
        assert "on a CUDA device" in raised(f, OnDevice() if me == 1 else 2.0, dcpy.on_root(np.ones(9)), B)
        assert "do not agree on the type of 'A'" in raised(f, 2.0, np.ones(9) if me else dcpy.on_root(np.ones(9)), B)
        right()
    """, ranks=2), 120)  # fmt: skip
    assert code == 0, text
    calls = {"AttributeError": 1, "ValueError": 1, "TypeError": 3, "IndexError": 2, "LinAlgError": 1}
    for name, count in calls.items():
        assert text.count(f"all raise {name}") == 2 * count, (name, text)
    assert text.count("right") == 4


def test_an_interrupt_of_the_rank_that_compiles_reaches_all(tmp_path):
    """Whenever it comes; what is caught leaves a usable program."""
    code, text = ended(start(tmp_path, f"""{HEAD}
        @dcpy.program(distributed=True)
        def total(x): return x.sum()

        import dcpy.programs.ranks.collective_calls  # what is interrupted is the call, not the import of what calls
        from dcpy import driver
        compile_sdfg, driver.compile_sdfg = driver.compile_sdfg, lambda *_, **__: time.sleep(60)
        if me == 0:
            signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
            signal.setitimer(signal.ITIMER_REAL, 0.3)
        raised(total, np.ones(9))
        driver.compile_sdfg = compile_sdfg
        assert total(np.ones(9)) == 9
        right()
    """, ranks=2), 120)  # fmt: skip
    assert code == 0, text
    assert text.count("all raise KeyboardInterrupt") == 2, text
    assert text.count("right") == 2
