"""Jobs that go wrong: a rank that raises, leaves or is killed ends all of them; calls that differ raise everywhere.

Each test starts a job, with a cache of its own unless it says otherwise.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import dcpy
from dcpy.base.options import environment_of_ranks
from dcpy.cli.rank_launcher import command_for

pytestmark = pytest.mark.mpi_job
HEAD = """
import os, signal, sys, time
import numpy as np
import dcpy

@dcpy.program(distributed=True)
def f(k, A, B):
    B[1:-1] = k * (A[:-2] + A[2:])

g = dcpy.grid(dims=1)
me = g.world.rank
A, B = dcpy.distribute(np.arange(9.0), g), dcpy.zeros(9, on=dcpy.on(g, "block"))

def right():
    f(2.0, A, B)
    expected = np.zeros(9)
    f.function(2.0, np.arange(9.0), expected)
    np.testing.assert_array_equal(B.allgather(), expected)
    print(f"rank {me}: right, {f.profile.get('compiler', 0):.2f} s in the compiler", flush=True)

def refused(message, *arguments):
    try:
        f(*arguments)
    except dcpy.DcpyError as error:
        assert message in str(error), str(error)
        print(f"rank {me}: refused", flush=True)
    else:
        raise AssertionError("nothing was raised")
"""


def start(folder, body, ranks=3, cache=None, timeout=0):
    script = folder / "script.py"
    script.write_text(HEAD + textwrap.dedent(body))
    environment = environment_of_ranks(ranks) | {"DCPY_CACHE_DIR": str(cache or folder / "cache")}
    environment["DCPY_RANKS_TIMEOUT"] = str(timeout)
    command = command_for(ranks, [str(script)])
    return subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace"
    )


def ended(job, seconds=60):
    text = job.communicate(timeout=seconds * (1 + busy()))[0]
    return job.returncode, text


@pytest.mark.parametrize(("end", "said"), [
    ("raise ValueError('no more')", "on rank 1:"), ("os._exit(3)", ""), ("os.kill(os.getpid(), signal.SIGKILL)", ""),
    ("sys.exit(3)", ""), ("sys.exit('no more')", "no more"),
])  # fmt: skip
def test_a_rank_that_ends_ends_the_job(tmp_path, end, said):
    """The others wait for it in a message; within 5 s of a quiet machine, all are gone."""
    code, text = ended(start(tmp_path, f"""
        if me == 1:
            print(f"ends at {{time.time()}}", flush=True)
            {end}
        g.world.all("here")
    """))  # fmt: skip
    assert code != 0
    assert said in text
    assert time.time() - float(re.search(r"ends at (\S+)", text)[1]) < 5 * (1 + busy())


def busy():
    """How many processes wait for each core."""
    return os.getloadavg()[0] / os.cpu_count()


def test_a_rank_that_leaves_with_success_is_missed(tmp_path):
    """It waits for the others, as MPI has it, and they for it: who watches says that it does not answer."""
    code, text = ended(start(tmp_path, """
        if me == 1: sys.exit()
        g.world.all("here")
    """, timeout=2))  # fmt: skip
    assert code != 0
    assert "rank 1: no answer: it has ended" in text, text
    assert re.search(r"ranks 0, 2: waits in what all ranks say, at .*script.py:\d+, in <module>", text), text


def test_calls_that_differ_raise_on_all_ranks(tmp_path):
    """Before the first message; and the next call is as good as ever."""
    code, text = ended(start(tmp_path, """
        right()
        refused("the ranks do not agree on the value of 'k'", 2.0 if me else 3.0, A, B)
        refused("the ranks do not agree on the type of 'k'", 2.0 if me else 2, A, B)
        other = dcpy.zeros(9 if me else 10, on=dcpy.on(g, "block"))
        refused("argument 'B' has the shape (9,)", 2.0, other if me == 0 else A, B)  # of no use even alone
        refused("the ranks do not agree on the shape of 'A'", 2.0, other, other.copy())
        single = dcpy.zeros(9, np.float64 if me else np.float32, on=dcpy.on(g, "block"))
        refused("the ranks do not agree on the type of 'A'", 2.0, single, B)
        cyclic = dcpy.zeros(9, on=dcpy.on(g, "block" if me else "cyclic"))
        refused("the ranks do not agree on the distribution of 'A'", 2.0, cyclic, B)
        refused("= note: rank 0: ", 2.0 if me else 3.0, A, B)
        right()
    """))  # fmt: skip
    assert code == 0, text
    assert text.count("refused") == 21
    assert text.count("right") == 6


def test_programs_grids_and_blocks_that_differ(tmp_path):
    """What one rank alone sees to be wrong is raised there before it sends anything; nobody waits for it."""
    code, text = ended(start(tmp_path, """
        @dcpy.program(distributed=True)
        def h(k, A, B):
            B[1:-1] = k * (A[:-2] - A[2:])

        f, kept = (h if me == 2 else f), f
        refused("the ranks do not agree on the program", 2.0, A, B)
        f = kept
        pair = dcpy.grid(2) if me else dcpy.grid(3)
        other = dcpy.zeros(9, on=dcpy.on(pair, "block"))
        refused("the ranks do not agree on the grid g0", 2.0, other, other.copy())
        refused("the ranks do not agree on the type of 'k'", None if me else 2.0, A, B)
        for wrong in (lambda: dcpy.grid(2, 2), lambda: dcpy.grid(0), lambda: dcpy.on_root(None, root=3),
                      lambda: dcpy.on(dcpy.grid(3), "block", "block"), lambda: A.__setattr__("local", np.zeros(4)),
                      lambda: dcpy.from_local(np.zeros((3, 4, 2)[me]), dcpy.on(g, "block"), (7,))):  # 3, 3 and 1
            try:
                wrong()
            except dcpy.DcpyError as error:
                print(f"rank {me}: {error.code}", flush=True)
        right()
    """))  # fmt: skip
    assert code == 0, text
    assert text.count("refused") == 9
    assert text.count("dist.grid") == 12
    assert text.count("dist.block") == 3 + 2
    assert text.count("right") == 3


def test_what_waits_too_long_ends_the_job(tmp_path):
    """A rank that does not call: with the option, the others do not wait for ever, and all say where they are."""
    code, text = ended(start(tmp_path, """
        right()
        patient = dcpy.program(distributed=True, ranks_timeout=2)(f.function)
        patient(2.0, A, B)
        if me: patient(2.0, A, B)  # not rank 0
        g.world.all("there")
    """))  # fmt: skip
    assert code != 0
    assert re.search(r"dcpy: rank 1 has waited too long \(ranks_timeout\), and ends the job\n", text), text
    assert re.search(r'rank 0: does not wait, at .*script.py:\d+, in <module>\n +g.world.all\("there"\)', text), text
    assert re.search(r"ranks 1, 2: waits in f\(\), which all ranks call, at .*script.py:\d+, in <mod.*\n +if me", text)


def test_what_ranks_say_to_each_other_is_watched_by_the_environment(tmp_path):
    """Also outside of programs, and a rank that computes instead is told by its line."""
    code, text = ended(start(tmp_path, """
        if me == 2:
            while True: time.sleep(0.1)
        A.allgather()
    """, timeout=2))  # fmt: skip
    assert code != 0
    assert re.search(r"rank 2: does not wait, at .*, in <module>\n +while True: time.sleep", text), text
    assert "rank 0: waits in the move of an array between distributions, at " in text or "ranks 0, 1: " in text


def test_copies_that_differ_are_found(tmp_path):
    """A sample of each array that the program reads; all elements where asked; what it only writes is not compared."""
    code, text = ended(start(tmp_path, """
        @dcpy.program(distributed=True)
        def g_of(A, y, B):
            y[:] = A
            B[:] = A[0]

        many, one = np.zeros(3000), np.zeros(3000)
        one[7] = me
        f(2.0, np.arange(9.0), B)
        refused("the ranks do not agree on the value of 'A'", 2.0, np.full(9, me), B)  # for ints there is no program
        refused("the ranks do not agree on the value of 'A'", 2.0, np.full(9, me + 0.5), B)
        g_of(many, np.full(3000, me + 0.5), B)
        f, kept = g_of, f
        refused("the ranks do not agree on the value of 'A'", many + me, many.copy(), B)
        g_of(one, many.copy(), B)  # one element of many is in no sample
        f = dcpy.program(distributed=True, check_replicas="all")(g_of.function)
        refused("the ranks do not agree on the value of 'A'", one, many.copy(), B)
        dcpy.program(distributed=True, check_replicas="off")(g_of.function)(many + me, many.copy(), B)
        f = kept
        f(2.0, np.arange(9.0), B)
    """))  # fmt: skip
    assert code == 0, text
    assert text.count("refused") == 12


def test_constants_that_differ_or_change(tmp_path):
    """Numbers of the module are part of the program: ranks must have the same ones, and a new one is a new program."""
    code, text = ended(start(tmp_path, """
        FACTOR = 2.0 if me else 3.0

        @dcpy.program(distributed=True)
        def f(k, A, B):
            B[1:-1] = k * FACTOR * (A[:-2] + A[2:])

        refused("the ranks do not agree on the constant FACTOR", 2.0, A, B)
        for FACTOR in (2.0, 3.0):
            right()
    """))  # fmt: skip
    assert code == 0, text
    assert text.count("refused") == 3
    assert text.count("right") == 6


def test_ranks_outside_of_the_grid_and_blocks_of_nothing(tmp_path):
    code, text = ended(start(tmp_path, """
        g = dcpy.grid(2)
        A, B = dcpy.distribute(np.arange(9.0), g), dcpy.zeros(9, on=dcpy.on(g, "block"))
        assert B.local.shape == ((5,), (4,), (0,))[me]
        right()
        A, B = (dcpy.zeros((0,), on=dcpy.on(g, "block")) for _ in range(2))
        f(2.0, A, B)
    """))  # fmt: skip
    assert code == 0, text
    assert text.count("right") == 3


def test_caches_that_are_not_shared(tmp_path):
    """Each rank has a folder of its own, one of them read-only: the library travels, and one rank compiles."""
    code, text = ended(start(tmp_path, """
        import dcpy.base.options as options
        own = f"{os.environ['DCPY_CACHE_DIR']}/{me}"
        os.makedirs(own)
        os.environ["DCPY_CACHE_DIR"] = own
        f = dcpy.program(distributed=True)(f.function)
        right()
        assert (f.profile.get("compiler", 0) > 0) == (me == 0)
        assert os.listdir(own), "the library is there, too"
    """))  # fmt: skip
    assert code == 0, text


def test_a_cache_that_cannot_be_written_on_one_node(tmp_path):
    """The library goes to a folder of this process instead; so it does where a file is in the place of the folder."""
    code, text = ended(start(tmp_path, """
        own = f"{os.environ['DCPY_CACHE_DIR']}{me}"
        if me == 1: open(own, "w").close()
        os.environ["DCPY_CACHE_DIR"] = own
        f = dcpy.program(distributed=True)(f.function)
        right()
    """))  # fmt: skip
    assert code == 0, text
    assert text.count("right") == 3


@pytest.mark.heavy
def test_eight_ranks_compile_once(tmp_path):
    """With a cold cache, which they share."""
    code, text = ended(start(tmp_path, "right()", ranks=8), 120)
    assert code == 0, text
    assert text.count("right, 0.00 s in the compiler") == 7
    assert text.count("right") == 8


def test_two_jobs_at_once(tmp_path):
    """They share a cold cache, and do not meet."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    jobs = [start(folder, "right()", ranks=2, cache=tmp_path / "cache") for folder in folders]
    for job in jobs:
        code, text = ended(job, 120)
        assert code == 0, text
        assert text.count("right") == 2


def test_what_does_not_compile_is_told_to_all(tmp_path):
    """The error of the rank that compiles is everybody's."""
    code, text = ended(start(tmp_path, """
        @dcpy.program(distributed=True)
        def g_of(A):
            A[:] = np.no_such_function(A)

        try:
            g_of(A)
        except dcpy.DcpyError as error:
            print(f"rank {me}: refused", flush=True)
    """))  # fmt: skip
    assert code == 0, text
    assert text.count("refused") == 3


@pytest.mark.parametrize("ranks", [1, 4])
def test_the_tutorials_script(tmp_path, ranks):
    """As `dcpy run` starts it."""
    script = Path(__file__).parents[2] / "examples" / "ranks" / "gemm.py"
    command = [sys.executable, "-c", "import sys; from dcpy.cli.main import main; sys.exit(main())"]
    made = subprocess.run(
        [*command, "run", "-n", str(ranks), str(script)], text=True, timeout=60, stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    assert f"rank {ranks - 1} of {ranks} has" in made.stdout
    assert made.stdout.count("as on one rank") == 1


def test_two_mpis_are_not_mixed(monkeypatch):
    """The library in this process is of another MPI than the wrapper in PATH."""
    from dcpy.base.errors import MixedMpi
    from dcpy.libraries.mpi import environments

    monkeypatch.setattr(environments, "loaded_library", lambda: Path("/elsewhere/lib/libmpi.so.40"))
    with pytest.raises(MixedMpi, match="is of another MPI than the library that mpi4py has loaded"):
        environments.find_mpi.__wrapped__()


def test_no_mpi(monkeypatch):
    from dcpy.base.errors import MissingMpi
    from dcpy.libraries.mpi import environments

    monkeypatch.setattr(environments, "find_wrapper", lambda: None)
    with pytest.raises(MissingMpi, match=r"no MPI is installed(.|\n)*\[mpi\]'"):
        environments.find_mpi.__wrapped__()


def test_jobs_of_several_sizes_share_a_binary(tmp_path):
    """The plan of plain arrays is chosen for so many ranks; where it is the same, the compiler runs once."""
    body = """
        @dcpy.program(distributed=True, auto_optimize=True)
        def atax(A, x):
            return (A @ x) @ A

        A, x = np.ones((900, 700)), np.ones(700)
        np.testing.assert_allclose(atax(A, x), 630000.0)
        print(f"compiler {atax.profile.get('compiler', 0) > 0}", flush=True)
    """
    for ranks, compiles in ((2, 1), (4, 0)):
        code, text = ended(start(tmp_path, body, ranks, tmp_path / "cache"), 120)
        assert code == 0, text
        assert text.count("compiler True") == compiles, text


PICKS = """
        @dcpy.program(distributed=True)
        def pick(T, x, K, A, B):
            for t in range(T):
                B[1:-1] = A[:-2] + A[2:]
                for i in dcpy.map[0:B.shape[0]]:
                    A[i] = B[i] + x[K[i]]

        K = dcpy.zeros(9, np.int64, on=dcpy.on(g, "block"))
        pick(2, np.ones(3), K, A, B)
        before = A.allgather()
        if me == 1: K.local[:] = 7
"""


def test_what_fails_on_one_rank_in_a_program_is_raised_by_all(tmp_path):
    """The others come to the end of the call; the next one is as good as ever."""
    code, text = ended(start(tmp_path, f"""{PICKS}
        for T in (1, 1):
            try:
                pick(T, np.ones(3), K, A, B)
            except IndexError as error:
                assert "index 7 is out of bounds for axis 0 with size 3" in str(error)
                assert "on rank 1" in error.__notes__
                print(f"rank {{me}}: raised", flush=True)
        K.local[:] = 0
        A, B = dcpy.distribute(np.arange(9.0), g), dcpy.zeros(9, on=dcpy.on(g, "block"))
        pick(2, np.ones(3), K, A, B)
        np.testing.assert_array_equal(A.allgather(), before)
        A = dcpy.distribute(np.arange(9.0), g)
        right()
    """))  # fmt: skip
    assert code == 0, text
    assert text.count("raised") == 6
    assert text.count("right") == 3


def test_who_fails_while_others_wait_for_its_messages_ends_the_job(tmp_path):
    """In the second step they wait: also where the script would catch the exception."""
    code, text = ended(start(tmp_path, f"""{PICKS}
        try:
            pick(5, np.ones(3), K, A, B)
        except IndexError:
            print("caught", flush=True)
    """, timeout=30))  # fmt: skip
    assert code != 0
    assert "caught" not in text
    assert "on rank 1:\nTraceback" in text, text
    assert "IndexError: index 7 is out of bounds for axis 0 with size 3" in text, text
    assert "dcpy: rank 1 ends the job: other ranks are in the same call" in text, text


N, M = dcpy.symbol("N"), dcpy.symbol("M")


@dcpy.program
def smooth(A: dcpy.float64[N, M], B: dcpy.float64[N, M], x: dcpy.float64[M]):
    B[1:-1] = A[:-2] + A[2:] + x


def test_programs_without_python(tmp_path):
    """sdfgcc --mpi --main: any number of ranks, each with its blocks of the files; some may have none."""
    from dcpy.cli.standalone_programs import build_standalone

    A, x, B = np.random.default_rng(0).random((7, 3)), np.arange(3.0), np.zeros((7, 3))
    B[1:-1] = A[:-2] + A[2:] + x
    for name, value in (("A", A), ("B", B), ("x", x)):
        np.save(tmp_path / f"{name}.npy", value)
    sdfg = smooth.to_sdfg()
    sdfg.distribute({"A": "g(block 0, block 1)", "B": "g(block 0, block 1)"}, {"g": ["P", "Q"]})
    sdfg.save(str(tmp_path / "smooth.sdfg"))
    build_standalone(str(tmp_path / "smooth.sdfg"), str(tmp_path / "smooth"), on_ranks=True)
    for ranks, words in ((1, []), (3, []), (5, ["P=2", "Q=2"])):
        launch = command_for(ranks, [])[:3]
        given = ["A=A.npy", "B=0", "x=x.npy", "--write", "B=out.npy", "--check", "B=B.npy", *words]
        done = subprocess.run([*launch, "./smooth", *given], cwd=tmp_path, env=environment_of_ranks(ranks), text=True,
                              capture_output=True, timeout=60, check=False)  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), B)


#: programs in which two ranks say to each other what does not fit
MISFITS = """
    from dcpy import comm
    N, M = dcpy.symbol("N"), dcpy.symbol("M")

    @dcpy.program
    def cut(x: dcpy.float64[N], y: dcpy.float64[M]):
        if comm.rank() == 0:
            comm.Send(x, 1)
        else:
            comm.Recv(y[:2], 0)

    @dcpy.program
    def filled(x: dcpy.float64[N], y: dcpy.float64[M]):
        if comm.rank() == 0:
            comm.Send(x[:2], 1)
        else:
            comm.Recv(y, 0)

    @dcpy.program
    def to_others(x: dcpy.float64[N], y: dcpy.float64[M]):
        comm.Send(x, 99)

    @dcpy.program
    def waiting(x: dcpy.float64[N], y: dcpy.float64[M]):
        comm.Send(x, 1 - comm.rank())
        comm.Recv(y, 1 - comm.rank())

    @dcpy.program
    def told(x: dcpy.float64[N], y: dcpy.float64[M]):
        comm.Bcast(x, 0)

    @dcpy.program
    def other_order(x: dcpy.float64[N], y: dcpy.float64[M]):
        if x.shape[0] == 4:
            comm.Bcast(x, 0)
            comm.Allreduce(y, comm.SUM)
        else:
            comm.Allreduce(y, comm.SUM)
            comm.Bcast(x, 0)

"""


@pytest.mark.parametrize(("call", "said"), [
    ("cut(x, y)", r"on rank 1, in comm.Recv at line \d+: MPI_Recv: MPI_ERR_TRUNCATE"),
    ("filled(x, y)", r"on rank 1, in comm.Recv at line \d+: a message has fewer elements than are received"),
    ("to_others(x, y)", r"in comm.Send at line \d+: MPI_Send: MPI_ERR_RANK: invalid rank"),
    ("waiting(np.ones(99999), y)", r"rank 1 has waited for 3 s \(ranks_timeout\) in comm.Send, for rank 0, at line"),
    ("told(np.ones(4 + 4 * me), y)", r"rank 0: comm.Bcast of 32 bytes, root 0(.|\n)*rank 1: comm.Bcast of 64 bytes"),
    ("other_order(np.ones(4 + me), y)", r"rank 0: comm.Bcast of 32 bytes(.|\n)*rank 1: comm.Allreduce of 32 bytes"),
])  # fmt: skip
def test_what_ranks_say_to_each_other_does_not_fit(tmp_path, call, said):
    """Programs of the local view: an MPI takes some of these together, and others wait for ever."""
    code, text = ended(start(tmp_path, f"""
        os.environ["DCPY_CHECK_MESSAGES"] = "1"{MISFITS.replace(chr(10), chr(10) + "    ")}
        x, y = np.ones(4), np.ones(4)
        {call}
        time.sleep(30)
    """, ranks=2, timeout=3), 120)  # fmt: skip
    assert code != 0
    assert re.search(said, text), text
