"""Texts with numbers that are known at run time only: printed, returned, joined, and in lists."""

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError

BOARD = np.array([[1, 0, 0, 2], [0, 3, 0, 0], [0, 0, 1, 1]])
SHADES = " .:-=+*#%@"


def board_of_marks(board, k):
    for row in board:
        print("".join("#" if cell else "." for cell in row))
    return ["".join("#" if cell else "." for cell in row) for row in board]


def shades(board, k):
    for row in board:
        print("".join(SHADES[(v * 3 + k) % 10] for v in row))
    return SHADES[k], SHADES[-k]


def rows_of_numbers(board, k):
    for row in board:
        print(" ".join(str(v) for v in row))
        print(" ".join(f"{v:3d}" for v in row), "|", ", ".join(f"{a}:{b:.2f}" for a, b in zip(range(k), row * 0.5)))
    print("\n".join("".join(str(int(v)) for v in row) for row in board))


def texts_of_numbers(board, k):
    n = board.sum()
    return f"total {n}", "sum " + str(n), hex(n), bin(k), oct(k), str(board.mean()), repr(n), str(k > 2), "x"


def with_format(board, k):
    print(f"{k} and {board.mean():>6.1%}", f"{board.sum()}-{k}-{board.mean()!r}")
    return "{:d} of {:s}".format(k, "four")


def in_lists(board, k):
    words = []
    for i in range(k):
        words.append("fizz" if i % 3 == 0 else str(i))
    text = ",".join(words)
    words.append("end")
    words[0] = "start"
    return text, words, words[1] + "!", ", ".join([str(i * i) for i in range(k)])


def printed_lists(board, k):
    path = [i * k for i in range(len(board))]
    print("path:", path, len(path))
    text = f"{path}"
    path[0] = 77
    print([(i, i * 0.5) for i in range(k)], text)


def changed_afterwards(board, k):
    row = board[0] * 2
    text = f"row {row} {row[0]}"
    row[0] = 99
    print(text)
    return "row is %s" % (row,)  # noqa: UP031


def by_path(board, k):
    size = "large" if board.sum() > 5 else "small"
    label = f"{k * 0.5:.2f}"
    if k > 2:
        label = label + " long"
    print(f"[{label:>12}] {size}")
    return f"{size} {k}", label + "!"


def compared(board, k):
    marks = SHADES[k] == ".", SHADES[k] != "=", SHADES[-k] in "*=", SHADES[k] in ("=", ":"), SHADES[k] == 3
    return marks, sum(1 for i in range(k) if SHADES[i] == "."), [i for i in range(k) if SHADES[i] in " :"]


NAMES = ["Mon", "Tue", "Wed"]


def chosen_names(board, k):
    for v in board[0]:
        print(f"{v} {NAMES[v % 3]} {NAMES[v % 3]:>6}|")
    return f"<{NAMES[k % 3]}>", NAMES[k % 3] + "!", "-".join([NAMES[k % 3], "x"]), f"{NAMES[k % 3]:>6}"


def repeated(board, k):
    print("*" * k, "|", "ab" * (k - 3), k * "=", "-" * k + ">", SHADES[k], f"[{SHADES[k + 1]}]")
    for v in board[0]:
        print("#" * v)
    return "=" * k + "|", ["#" * v for v in board[0]]


def characters(board, k):
    print("A" + chr(k + 65))
    return "".join(chr(97 + v) for v in board[0]), chr(k + 97), chr(98)


def one_of_two_texts(board, k):
    label = f"{board[0, 0]:d}!" if k > 3 else "none"
    other = str(board[0, 1]) if k < 3 else str(k * 0.5)
    rows = [f"<{v}>" if v else "-" for v in board[0]]
    print(label, other, rows, sep="/")
    return label, other, rows, f"{label}:{other:>5}", "".join("." if v == 0 else str(v) for v in board[1])


def bracketed(n):
    if n < 2:
        return f"<{n}>"
    return f"<{n * 10}>"


def of_one_form(board, k):
    print(" ".join(bracketed(v) for v in board[0]))
    last = bracketed(k)
    for v in board[0]:
        last = f"<{v * 2}>"
    label = f"{k:03d}" if board[0, 0] > k else f"{k + 1:03d}"
    return last, label, bracketed(board[1, 1])


def best_of_all(board, k):
    best = None
    for v in board[0]:
        if best is None or v > best[0]:
            best = (v, v * 2)
    print("best: {:.1f}, {}".format(best[0], best[1]))  # noqa: UP032
    return f"{best[0]} of {k}"


PROGRAMS = [board_of_marks, shades, rows_of_numbers, texts_of_numbers, with_format, in_lists, printed_lists,
            changed_afterwards, by_path, compared, chosen_names,
            repeated, characters, one_of_two_texts, of_one_form, best_of_all]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("optimized", [False, True])
def test_as_in_python(program, optimized, capfd):
    for k in (4, 2):
        expected = program(BOARD.copy(), k)
        printed = capfd.readouterr().out
        found = dcpy.program(program, auto_optimize=optimized)(BOARD.copy(), k)
        assert capfd.readouterr().out == printed
        assert repr(found) == repr(expected)


def test_a_place_outside_of_the_text():
    with pytest.raises(IndexError, match="string index out of range"):
        dcpy.program(shades)(BOARD, 10)
    with pytest.raises(IndexError, match="string index out of range"):
        shades(BOARD, 10)


def test_numbers_that_are_no_characters():
    def program(k):
        return chr(k)

    for function in (program, dcpy.program(program)):
        with pytest.raises(ValueError, match=r"chr\(\) arg not in range\(0x110000\)"):
            function(-1)


def test_an_exception_with_a_text():
    def program(board):
        raise ValueError(f"{board.sum()} of " + str(board.mean()))

    for function in (program, dcpy.program(program)):
        with pytest.raises(ValueError, match=r"^8 of 0\.66"):
            function(BOARD)


def joined_numbers(board, k):
    return " ".join([i * 2 for i in range(k)])


def text_of_an_array(board, k):
    return str(board)


@pytest.mark.parametrize(("program", "message"), [
    (joined_numbers, r'`" ".join\(str\(x\) for x in xs\)`'), (text_of_an_array, "print it"),
])  # fmt: skip
def test_refused_with_a_rewrite(program, message):
    with pytest.raises(FrontendError, match=message):
        dcpy.program(program)(BOARD, 3)
