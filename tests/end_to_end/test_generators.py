"""Section 3: generators that the program itself drives, dictionaries that change, `itertools`.

Values, the types of items and the words of exceptions are Python's, in the interpreter and (where marked) compiled.
"""

import itertools
import operator

import numpy as np
import pytest

import dcpy
from tests.support.lists import check_lists

A8 = np.arange(8.0) * 1.5 - 3


def gen_squares(n):
    for i in range(n):
        yield i * i


def pairs(a):
    k = 0
    while k < len(a):
        if a[k] > 0:
            yield k, a[k]
        k += 1


def chained(n):
    yield 100
    yield from gen_squares(n)
    if n > 3:
        return
    yield 200


def squares_added(a, n):
    s = 0
    for x in gen_squares(n):
        s += x
    return s


def break_and_continue(a, n):
    out = []
    for k, x in pairs(a):
        if k == 6:
            break
        if k == 5:
            continue
        out.append(x * k)
    return out


def generators_in_functions_and_comprehensions(a, n):
    s = 0
    for x in chained(n):
        if x == 4:
            continue
        s += x
    return s, sum(chained(n)), list(chained(n)), max(gen_squares(n)), [y + 1 for y in gen_squares(n)]


def generators_made_inside(a, n):
    def local(m):
        for i in range(m):
            yield a[i] * n

    t = 0.0
    for i, v in enumerate(local(n)):
        t += i * v
        if t > 100:
            break
    return t, any(v > 3 for v in local(n)), sum(v for v in local(n) if v > 0)


def a_generator_in_a_generator(a, n):
    s = 0
    for i in gen_squares(n):
        for j in gen_squares(i):
            if j > 10:
                break
            s += i * j
    return s


def a_return_out_of_the_loop(a, n):
    for x in gen_squares(n):
        if x > 5:
            return x
    return -1


def a_return_of_a_function(a, n):
    def f(m):
        for x in gen_squares(m):
            if x > 5:
                return x
        return -1

    return f(n), f(2)


def loops_over_generator_expressions(a, n):
    s = 0.0
    for x in (v * 2 for v in a if v > 0):
        if x > 8:
            break
        s += x
    for i, x in enumerate(v for v in a):
        s += i * x
    return s


def a_generator_without_end(a, n):
    def fib():
        x, y = 0, 1
        while True:
            yield x
            x, y = y, x + y

    out = []
    for f in fib():
        if f > 50:
            break
        out.append(f)
    return out


def windows_of_an_array(a, n):
    def windows(x, k):
        for i in range(len(x) - k + 1):
            yield x[i : i + k]

    s = 0.0
    for w in windows(a, 3):
        s += w.max()
    for w in windows(a, 2):
        w[:] = w + 1
    return s, a


def counters_and_get(a, n):
    d = {"n": 0, "s": 0.0}
    for x in a:
        d["n"] += 1
        d["s"] += x
    return d["n"], d["s"], d.get("s"), d.get("q", 3), d.get("z")


def a_dictionary_that_is_built(a, n):
    d = {}
    for i in (0, 1, 2):
        d[i] = a[i]
    d.update(x=1.0)
    d["y"] = 2
    return sum(d.values()), len(d), list(d), "x" in d, 7 in d


def arguments_handed_on(a, n):
    opts = dict(scale=2.0)

    def f(x, **kw):
        return g(x, **kw)

    def g(x, scale=1.0, shift=0.0):
        return x * scale + shift

    def h(*args, **kw):
        return f(*args, **kw)

    return h(a, **opts), h(a, scale=3.0, **{"shift": 1.0})


def two_names_of_one_dictionary(a, n):
    d = {"a": 1}
    e = d
    e["a"] = n
    if n > 3:
        d["a"] = n * 2
    del e["a"]
    e["b"] = 4
    return d["b"], d.pop("b"), d.setdefault("c", 5), d["c"]


def lists_in_dictionaries(a, n):
    d = {"x": [1]}
    d["x"].append(n)
    f = {**d, "y": 2}
    return d["x"], f["y"], dict([("u", 1)])["u"], {k: v for k, v in f.items() if k == "y"}["y"]


def a_key_that_is_missing(a, n):
    return {"q": 1}["z"]


def repeat_and_count(a, n):
    s = 0.0
    for x, y in zip(a, itertools.repeat(2.0)):
        s += x * y
    for i, x in zip(itertools.count(1), a):
        s += i * x
    for x in itertools.repeat(1.5, n):
        s += x
    for i, (x, y) in enumerate(zip(itertools.repeat(2.0, n), a)):
        s += i * x * y
    return s


def chain_product_pairwise_islice_and_accumulate(a, n):
    s = 0.0
    for x in itertools.chain(a, a[:n]):
        s += x
    for i, j in itertools.product(range(n), range(3)):
        s += i * j
    for x, y in itertools.pairwise(a):
        s += x * y
    for x in itertools.islice(a, n):
        s += x
    for x in itertools.islice(a, 1, n):
        s += x
    return s, list(itertools.accumulate(a)), list(itertools.accumulate([i + 1 for i in range(n)], operator.mul))


def items_in_functions(a, n):
    return (
        sum(x * y for x, y in itertools.product(a, a)),
        [x for x in itertools.chain(a, a[:1])][-1] > 3,
        sum(itertools.chain(range(n), range(2))),
    )


TAKEN = [
    squares_added,
    break_and_continue,
    generators_in_functions_and_comprehensions,
    generators_made_inside,
    a_generator_in_a_generator,
    a_return_out_of_the_loop,
    a_return_of_a_function,
    loops_over_generator_expressions,
    a_generator_without_end,
    windows_of_an_array,
    counters_and_get,
    a_dictionary_that_is_built,
    arguments_handed_on,
    two_names_of_one_dictionary,
    lists_in_dictionaries,
    a_key_that_is_missing,
    repeat_and_count,
    chain_product_pairwise_islice_and_accumulate,
    items_in_functions,
]


@pytest.mark.parametrize("function", TAKEN, ids=lambda function: function.__name__)
def test_as_python(function):
    check_lists(function, A8, 5, rtol=1e-13)


@pytest.mark.cc
@pytest.mark.parametrize("function", TAKEN[::3], ids=lambda function: function.__name__)
def test_compiled_as_python(function):
    check_lists(function, A8, 5, compiled=True, rtol=1e-13)


def refusal(function):
    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(function).to_sdfg(A8, 5)
    return str(caught.value)


def test_refuses_what_is_sent_to_a_generator():
    def f(a, n):
        def echo():
            got = yield 1
            yield got

        return sum(x for x in echo())

    assert "sending values to a generator is not supported" in refusal(f)


def test_refuses_the_sdfg_of_a_generator():
    def f(a, n):
        yield a

    assert "a generator has no SDFG of its own" in refusal(f)


def test_refuses_generators_that_escape():
    assert "a program cannot return a generator" in refusal(lambda a, n: gen_squares(n))


def test_refuses_changes_of_a_dictionary_that_was_passed():
    def f(counts):
        counts["n"] += 1
        return counts["n"]

    with pytest.raises(dcpy.DcpyError, match="the caller made it"):
        dcpy.program(f)({"n": 1})


def choices(a, n):
    pairs = [x * y for x, y in itertools.combinations(a, 2)]
    total = 0
    for i, j, k in itertools.combinations_with_replacement(range(n), 3):
        total += i * j * k
    triples = len(list(itertools.combinations(range(n), 3)))
    return pairs, total, triples, [x for (x,) in itertools.combinations(range(n), 1)]


def shortest_tour(a, n):
    best = 1e9
    for places in itertools.permutations(range(4)):
        length = 0.0
        for i in range(3):
            length += abs(a[places[i]] - a[places[i + 1]])
        best = min(best, length)
    return best, [x - y for x, y in itertools.permutations(a[:4], 2)], len(list(itertools.permutations(range(n), 3)))


@pytest.mark.parametrize("function", [choices, shortest_tour])
def test_s3_combinations_and_permutations(function):
    for n in (0, 2, 5):
        check_lists(function, np.array([3.0, -1.0, 4.0, 1.5, -5.0]), n, rtol=1e-13)


def test_s3_combinations_of_unknown_length_are_refused_at_the_users_call():
    def f(a, n):
        return len(list(itertools.combinations(a, n)))

    with pytest.raises(dcpy.FrontendError, match=r"test_generators\.py(.*\n)*.*itertools\.combinations\(a, n\)"):
        dcpy.program(f).to_sdfg(np.arange(4.0), 2)
