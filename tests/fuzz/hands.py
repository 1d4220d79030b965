"""The lines of programs whose names stand for other things by path: arrays change hands, dtypes and ranks differ.

In the templates {0} and {1} are new names, {2} and {3} arrays, {4} an expression, {5} a number, {6} a condition, and
{7} a value that fits into {2}.
"""

from __future__ import annotations

LOOPS = (
    "{0}, {1} = {2}, {3}\nfor i{0} in range(k + 3):\n    {0}[...] = {1} - 1\n    {0}, {1} = {1}, {0}\n{0}[...] += 1",
    "{0}, {1} = {2}, {3}\nfor i{0} in range(3):\n    {0}[1:] = {1}[:-1]\n    {0}, {1} = {1}, {0}\n{1}[...] *= 2",
    "for i{0} in range(k + 2):\n    {2}, {3} = {3}, {2}\n    {2}[...] += 1\n{3}[0] = {5}",
    "for i{0} in range(3):\n    {2}[...] = {2} - {3}\n    {2}, {3} = {3}, {2}",
    "{0}, {1} = {2}, {3}\nw{0} = 0\nwhile w{0} < 3:\n    w{0} += 1\n    if {6}:\n        {0}, {1} = {1}, {0}\n"
    "    {0} += 1",
    "{0}, {1}, q{0} = {2}, {3}, {2}.copy()\nfor i{0} in range(4):\n    {0}[...] = {1} + 1\n"
    "    {0}, {1}, q{0} = {1}, q{0}, {0}",
    "{0}, {1}, q{0} = {2}, {3}, {2}\nfor i{0} in range(2):\n    {0}, {1}, q{0} = {1}, q{0}, {0}\n    {0}[0] = i{0}",
    "for i{0} in range(4):\n    {0}, {1} = ({2}, {3}) if i{0} % 2 == 0 else ({3}, {2})\n    {1}[...] = {0} + i{0}",
    "for i{0} in range(3):\n    {0} = {2} if i{0} % 2 else {3}\n    {0}[...] += i{0}\n{0}[0] = 7",
    "{0}, {1} = {2}[1:], {2}[:-1]\nfor i{0} in range(3):\n    {0} += {1}\n    {0}, {1} = {1}, {0}",
    "{0}, {1} = {2}, {2}[::-1]\nfor i{0} in range(3):\n    {0}[...] = {1}\n    {0}, {1} = {1}, {0} * 2",
    "{0}, {1} = {2}, np.zeros_like({2})\nfor i{0} in range(3):\n    {1}[...] = {0}\n    {0}, {1} = {1}, {0}\n"
    "    {0} *= 2",
    "{0}, {1} = {2}, np.empty_like({2})\nfor i{0} in range({2}.shape[0]):\n    {1}[...] = {0}[::-1]\n"
    "    {0}, {1} = {1}, {0}",
    "{0}, {1} = {2}, {3}\nfor i{0} in range(3):\n    q{0} = {0} + {1}\n    {0}, {1} = {1}, q{0}\n{0}[...] = {5}",
    "{0} = {2}\nfor i{0} in range(3):\n    {1} = {0}\n    {0} = {1} * 0.5\n{0}[0] = 9\n{1}[-1] = 8",
    "{0} = {2}\nfor i{0} in range(2):\n    {0} = {0} * 1j\n{0} = {0} + 1",
    "{0} = {2}\nfor i{0} in range(k + 2):\n    {0} = {0} / 2\n{0} = {0} + 1",
    "{0} = 0\nfor i{0} in range(3):\n    {0} = {0} + {2}\n{0} = {0} * 2",
    "{0} = {5}\nfor i{0} in range(k + 2):\n    {0} = {0} * {2}",
    "{0} = {2}\nfor i{0} in range(3):\n    {0} = {0}[1:] if {0}.size > 1 else {0}\n{0}[...] = 1",
    "{0} = {2}\nfor i{0} in range(3):\n    if i{0} == 1:\n        {0} = {3}\n    {0}[0] += i{0}",
    "{0} = {2}\nfor i{0} in range(3):\n    if i{0} == k:\n        break\n    {0} = {3}\nelse:\n    {0} = {2}\n"
    "{0} += 1",
    "{0} = None\nfor i{0} in range(3):\n    if {0} is None:\n        {0} = {2}\n    else:\n        {0} = {0} + 1\n"
    "{0} = {0} * 2",
    "{0} = {2}\nfor {1} in ({2}, {3}, {2}):\n    {1} += 1\n    {0} = {1}\n{0}[0] = 4",
    "{0} = np.zeros_like({2})\nfor i{0} in range(2):\n    {1} = {0}\n    {0} = {0} + {2}\n    {1}[0] = {5}\n"
    "{0} -= {1}",
)  # fmt: skip
BRANCHES = (
    "{0} = {2} if {6} else {3}\n{0}[...] = {7}",
    "{0} = {2} if {6} else {2}[::-1]\n{0}[0] = 5\n{2}[-1] += 1",
    "if {6}:\n    {0} = {2}\nelse:\n    {0} = {3} + 1\n{0} += 1\n{2}[0] = 3",
    "if {6}:\n    {0} = {2}\nelse:\n    {0} = {2} / 2\n{0} = {0} * 3",
    "if {6}:\n    {0} = {2}[0]\nelse:\n    {0} = {2}\n{0} = {0} + {2}",
    "if {6}:\n    {0} = {2}[np.newaxis]\nelse:\n    {0} = {2}\n{0} = {0} + 1\n{1} = {0}.ndim",
    "if {6}:\n    {0} = 1\nelse:\n    {0} = {2}\n{0} = {0} + {2}",
    "{0} = None\nif {6}:\n    {0} = {2}\nif {0} is not None:\n    {0}[...] = {7}\n    {1} = 1\nelse:\n    {1} = 2",
    "{0} = None if {6} else {5}\n{1} = 3 if {0} is None else {0} + 1",
    "{0} = {5} if {6} else None\n{1} = {2}[:{0}]" ,
    "{0} = {2}\nif {6}:\n    {0} = {0} + 1\n{0}[0] = 5\n{1} = {2} * 2",
    "{0} = {2}\nif {6}:\n    {0} = {3}\n{1} = {0}\n{1} += 1\n{0}[...] = {0}[::-1]",
    "{0}, {1} = {2}, {3}\nif {6}:\n    {0}, {1} = {1}, {0}\n{0}[...] = {1} * 2\n{1}[0] = {5}",
    "if {6}:\n    {2} = {2} + 1\n{2}[0] = 5",
    "if {6}:\n    {2}, {3} = {3}, {2}\n{2}[...] += {3}",
    "if {6}:\n    {0} = {2}.astype(np.float32)\nelse:\n    {0} = {2}.astype(np.int64)\n{0} = {0} * 1.5",
    "{0} = {2}[1:] if {6} else {2}[:-1]\n{0} *= 2\n{1} = {0}.shape[0]",
    "{0} = ({2}, {3})[{6}]\n{0}[0] = {5}",
    "{0} = {2} if {6} else {4}\n{1} = {0} + 1",
    "if {6}:\n    {0} = {2}.T\nelse:\n    {0} = {2}\n{0}[...] = {0} * 2\n{1} = {0}.shape",
    "def g{0}(x, y=None):\n    if y is None:\n        return x\n    return x + y\n"
    "{0} = g{0}({2}) if {6} else g{0}({2}, 1)",
    "def g{0}(x):\n    if {6}:\n        return None\n    return x * 2\n{0} = g{0}({2})\nif {0} is None:\n"
    "    {0} = {2}\n{0}[0] = 1",
    "def g{0}(x, y):\n    return (y, x) if {6} else (x, y)\n{0}, {1} = g{0}({2}, {3})\n{0}[...] = 3\n{1}[0] = 4",
    "try{0} = {2}\nif {6}:\n    try{0} = try{0}[::-1]\n    try{0}[0] = 1\n{0} = try{0} + 0",
)  # fmt: skip
RESULTS = (  # what a function ends with
    "if {6}:\n    return {2}\nreturn {2} + 1", "if {6}:\n    return {2}, 1\nreturn {2}", "return {2} if {6} else {3}",
    "if {6}:\n    return None\nreturn {2}", "if {6}:\n    return {2}\nreturn {2}[::-1]", "if {6}:\n    return {5}",
    "for i{0} in range(3):\n    if {2}[0] > i{0}:\n        return {2}\n    {2} = {2} + 1\nreturn {3}",
    "if {6}:\n    return {2}.astype(np.float32)\nreturn {2}.astype(np.int16)", "return ({2}, {3}) if {6} else None",
)  # fmt: skip
