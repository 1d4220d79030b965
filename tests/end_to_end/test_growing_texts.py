"""Texts that grow in loops, their characters, and texts as keys: values are Python's."""

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

FREQUENCIES = {"e": 12.7, "t": 9.1, "a": 8.2}
NAMES = ["ann", "bob", "cid"]
MONTHS = ["January", "February", "March"]


def name_of(m):
    if m < 3:
        return "low"
    return f"n{m}"


def helpers_by_path(n):
    squares = [k * k for k in range(n)]
    return " ".join(name_of(m) for m in squares), [name_of(i) for i in range(n)], name_of(n) + "!" + name_of(2)


def kinds_by_path(n):
    def coin(k):
        return (k if k > 3 else -1.5), n

    return n, coin(n), [coin(i) for i in range(n)]


def fizz(n):
    line = ""
    for i in range(n):
        if i % 3 == 0:
            line += "Fizz"
        elif i % 5 == 0:
            line += "Buzz"
        else:
            line += str(i)
        line += ","
    return line


def in_front(n):
    digits = ""
    while n > 0:
        digits = str(n % 2) + digits
        n //= 2
    return digits or "0"


def remembered(n):
    text = last = ""
    for i in range(n):
        text += f"{i},"
        if i == 2:
            last = text
    return text, last


def exchanged(n):
    a, b = "x", "y"
    for i in range(n):
        a, b = b + str(i), a + "-"
    return a, b


def begun_anew(n):
    whole, text = "", "a"
    for i in range(3):
        for j in range(n):
            text = text + f"{i * j}."
        whole += text + "\n"
        if i == 1:
            text = "b"
    return whole, text


def triangle(n):
    whole = ""
    for i in range(n):
        row = ""
        for _ in range(i):
            row += "*"
        whole += row + "\n"
    return whole


def padded_by(text, n):
    while n > 0:
        text = " " + text
        n -= 1
    return text


def from_helpers(n):
    return padded_by("x", n) + padded_by(str(n), 2)


def separated(n):
    text = ""
    for i in range(n):
        if text:
            text += ", "
        text += str(i)
    return f"[{text}]", text == "", text


def rows(n):
    a = np.arange(6 * n).reshape(2, 3 * n)
    out = ""
    for row in a:
        out += " ".join(str(v) for v in row) + "\n"
    return out


def digits(n):
    text = str(n)
    found = [len(text), text[0], text[-1], text[1:3], "7" in text, len(f"{n:08b}x"), bin(n), list(text)]
    return found, text == text[::-1], sum(int(c) for c in text if c != "-"), "".join(reversed(text))


def shifted(text, k):
    out = ""
    for c in text:
        if c.isupper():
            out += chr((ord(c) - 65 + k) % 26 + 65)
        elif c.islower():
            out += chr((ord(c) - 97 + k) % 26 + 97)
        else:
            out += c
    return out


def deciphered(n):
    there = shifted("Hello, World", n)
    back = shifted(there, -n)
    return there, back, back == "Hello, World", there.upper(), there.lower()


def scores(n):
    text = "".join(chr((ord(c) - 97 + n) % 26 + 97) if c.isalpha() else c for c in "heat tea")
    return sum(FREQUENCIES.get(c, 0) for c in text), [c for c in text if c in "aeiou"], text.center(14), text * 2


def looked_up(n):
    places = {"0": 5, "1": 7, "2": 1}
    return sum(places[c] for c in str(n))


def counted(n):
    count, letters = {}, {}
    for i in range(n):
        word = NAMES[i * i % 3]
        count[word] = count.get(word, 0) + 1
        for c in str(i):
            letters[c] = letters.get(c, 0) + 1
    return count, letters, "bob" in count


def known_or_not(n):
    found = {"x": 1}
    if n > 2:
        found["y"] = 2
    made = {}
    for i in range(n):
        made[f"k{i % 3}"] = i
    return found, made


def in_sets(n):
    seen, used = set(), set()
    for i in range(n):
        seen.add("even" if i % 2 == 0 else "odd")
        for c in "abca":
            if c in used:
                continue
            used.add(c)
    return seen, len(used), "odd" in seen


def statistics(n):
    values = [k * k % 7 for k in range(n)]
    ordered = sorted(values)
    middle = ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2
    return {"mean": sum(values) / n, "median": middle}


def parked(n):
    inside, paid = {}, 0
    for t in range(n):
        if t % 2 == 0:
            inside[t] = t
        elif t - 1 in inside:
            paid += t - inside.pop(t - 1)
    return paid, inside


def states(n):
    state, todo, steps = "idle", list(range(n)), 0
    while todo or state != "idle":
        steps += 1
        if state == "idle":
            todo.pop(0)
            state = "busy"
        else:
            state = "idle"
    return steps


def change(n):
    if n < 0:
        return "not enough", {}
    coins = {}
    for c in (200, 100, 50):
        k, n = divmod(n, c)
        if k:
            coins[c] = k
    return "ok", coins


def collected(n):
    rows = []
    for i in range(n):
        row = ""
        for j in range(i):
            row += "#" if (i * j) % 3 == 1 else "."
        rows.append(row)
    lines = [" ".join(str(k) for k in range(i)) for i in range(n)]
    return "\n".join(rows), rows, rows[0], len(rows), lines, [k for k in range(n) if rows[k]]


def roman(n):
    out = ""
    for value, sign in [(40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]:
        while n >= value:
            out += sign
            n -= value
    return out


def romans(n):
    return [roman(k) for k in range(n)], {roman(k): k for k in range(n)}


def counted_texts(n):
    count = {}
    for i in range(n):
        key = "".join("ab"[(i >> k) % 2] for k in range(i % 3))
        count[key] = count.get(key, 0) + 1
    return count


def formats(n):
    width = len(str(n * n))
    texts = [f"{i:{width}d}|{i / 3:>{width + 3}.{2}f}" for i in range(n)]
    return texts, "".join(c * k for c, k in [("a", n), ("b", 1)])


def methods(n):
    text, name = f"{n / 3:.3f}", MONTHS[n % 3]
    return (text.replace(".", ","), text.startswith("1"), text.find("."), [c for c in text if c != "."], len(text),
            text == "12.333", len(name), name.upper(), name[0], f"{name} {n}".center(20), text.strip("0"))  # fmt: skip


def lines_of_a_month(n):
    found, line = [], "   " * (n - 3)
    for day in range(n):
        line += f"{day:2d} "
        if day % 7 == 2:
            found.append(line)
            line = ""
    if line:
        found.append(line)
    return found


def rewritten(n):
    text = "F--F"
    for _ in range(n % 3):
        text = "".join({"F": "F+F"}.get(c, c) for c in text)
    return text, len(text), text.count("F")


def look_and_say(n):
    text = "1"
    for _ in range(n % 5):
        out, i = "", 0
        while i < len(text):
            j = i
            while j < len(text) and text[j] == text[i]:
                j += 1
            out += str(j - i) + text[i]
            i = j
        text = out
    return text


@pytest.mark.parametrize("n", [1, 6, 37])
@pytest.mark.parametrize("function", [
    helpers_by_path, kinds_by_path, fizz, in_front, remembered, exchanged, begun_anew, triangle, from_helpers,
    separated, rows, collected, romans, counted_texts, formats, methods, lines_of_a_month, digits, deciphered,
    counted, known_or_not, in_sets, statistics, parked, states,
])  # fmt: skip
def test_texts(function, n):
    check_same(function, n)


@pytest.mark.parametrize(("function", "n"), [
    (rewritten, 2), (look_and_say, 4),
    (digits, -57), (digits, 2**62), (looked_up, 210), (looked_up, 213), (scores, 0), (scores, 3), (change, 365),
    (change, -5), (in_front, 0),
])  # fmt: skip
def test_more_texts(function, n):
    check_same(function, n)


def test_lists_of_texts_are_arguments():
    def f(names, k):
        found = {}
        for name in names:
            found[name] = len(name) + k
        return found, sorted(names), names[0]

    check_same(f, ["tea", "ant", "x"], 3)


def test_int_of_a_text_is_pythons():
    def f(n):
        return int(str(n)[::-1])

    assert dcpy.program(f)(120) == 21
    with pytest.raises(ValueError, match="invalid literal for int\\(\\) with base 10: '3-'"):
        dcpy.program(f)(-3)
