"""The lines of programs with slices whose bounds are found out, searches in loops, powers, and loops that raise.

In the templates {0} and {1} are new names, {2} and {3} arrays, {4} an expression, {5} a number, {6} a condition.
"""

from __future__ import annotations

SLICES = (
    "{0}, {1} = k, k + 2\n{2}[{0}:{1}] = {2}[{0} - 1:{1} - 1]",
    "for i{0} in range(4):\n    {2}[i{0}:] = np.maximum({2}[i{0}:], {2}[:{2}.shape[0] - i{0}] + 1)",
    "for i{0} in range({2}.shape[0] + 2):\n    {2}[i{0}:i{0} + 2] += {2}[i{0}:i{0} + 2][::-1]",
    "for i{0} in range(-3, 4):\n    {2}[i{0}:] = {2}[i{0}:] + i{0}",
    "for i{0} in range(1, 4):\n    {2}[i{0}:] += {2}[:-i{0}]",
    "{0} = {2}.shape[0] - 1 - k\n{1} = {2}[{0}:k] * 2\n{2}[k:{0}] = 1",
    "{0} = {2}[k:{2}.shape[0] - k]\n{0} += 1\n{1} = {0}[::-1] - {0}",
    "{0} = {2}[k:]\n{0}[k:] = 3\n{1} = {0}[:k]",
    "{0} = np.zeros(6)\n{1} = {2}.shape[0] % 4\n{0}[{1}:{1} + 2] = 1\n{0}[k:{1}] += 2\n{0}[:{1} - 1] -= {0}[1:{1}]",
    "{0} = {2}[::k] if k != 0 else {2}[::-1]\n{1} = {0} + 1",
    "{0} = {2}[k::2]\n{1} = {2}[:k:-1]\n{0}[...] = 5",
    "for i{0} in range(3):\n    for j{0} in range(i{0}, 4):\n        {2}[i{0}:j{0}] = {2}[j{0} - 1] + {2}[i{0}:j{0}]",
    "for i{0} in range({2}.shape[0] // 2):\n    {2}[i{0}], {2}[-1 - i{0}] = {2}[-1 - i{0}], {2}[i{0}] * 1",
    "{0} = np.arange(8)\nfor i{0} in range(3):\n    {0}[2**i{0}:] = {0}[2**i{0}:] + {0}[:8 - 2**i{0}]",
    "{0} = np.arange(9.0)\n{1} = max(k, 0)\n{0}[{1}:8 - {1}] = {0}[{1} + 1:9 - {1}] + {0}[{1} - 1:7 - {1}]",
    "{0} = np.ones((4, 5))\n{0}[k:, :k] = 3\n{0}[:, k:-1] += {0}[:, k + 1:] if k >= 0 and k < 4 else 1",
    "{0} = {2}[min(k, 0):max(k, 1)]\n{0} -= 1\n{1} = {0}.size",
    "{0} = int(np.argmax({2}.ravel()))\n{1} = {2}.ravel()[{0}:] * 2\n{2}[:{0}] = 0",
    "{0}, {1} = 0, {2}.shape[0]\nwhile {1} - {0} > 1:\n    {0} += 1\n    {1} -= 1\n"
    "    {2}[{0}:{1}] = {2}[{0} - 1:{1} - 1]",
    "w{0} = 1\nwhile w{0} < {2}.shape[0]:\n    {2}[w{0}:] = {2}[w{0}:] + {2}[:{2}.shape[0] - w{0}]\n    w{0} *= 2",
    "{2}[k:][1:][:2] = 1\n{0} = {2}[1:][k:]\n{1} = {0}[-k:]",
    "{0} = {2}[-k:].copy()\n{2}[:{0}.shape[0]] = {0}",
    "for i{0} in range(3):\n    {0} = {2}[i{0}:i{0} + 3]\n    {0}[:-1] = {0}[1:]",
)  # fmt: skip
SEARCHES = (
    "{0}, {1} = -1, -9\nfor i{0} in range({2}.shape[0]):\n    if np.max({2}[i{0}]) > {1}:\n"
    "        {0}, {1} = i{0}, np.max({2}[i{0}])",
    "{0} = {2}.ravel()[0]\nfor x{0} in {2}.ravel():\n    if x{0} < {0}:\n        {0} = x{0}",
    "{0} = {2}.ravel()[0]\n{1} = 0\nfor i{0} in range({2}.size):\n    if {2}.ravel()[i{0}] >= {0}:\n"
    "        {0} = {2}.ravel()[i{0}]\n        {1} = i{0}",
    "{0} = {5}\nfor x{0} in {2}.ravel():\n    {0} = max({0}, x{0})",
    "{0} = {5}\nfor x{0} in {2}.ravel():\n    {0} = min(x{0}, {0})",
    "{0} = 100\nfor i{0} in range({2}.shape[0]):\n    {0} = min({0}, int(np.max({2}[i{0}].real)), i{0})",
    "{0} = {2}.ravel()[-1]\nfor x{0} in {2}.ravel():\n    {0} = x{0} if x{0} > {0} else {0}",
    "{0} = {2}.ravel()[0] * 0\nfor x{0} in {2}.ravel():\n    if x{0} > 0:\n        {0} += x{0}",
    "{0} = {2}.ravel()[0]\nfor x{0} in {2}.ravel():\n    {0} = np.maximum({0}, x{0})\n{1} = {0} + 1",
    "{0} = {2}.ravel()[0]\nfor x{0} in {2}.ravel():\n    {0} = np.fmin({0}, x{0})",
    "{0} = np.full({2}.shape[0], -9.0)\nfor i{0} in range({2}.shape[0]):\n    for x{0} in {2}[i{0}].ravel().real:\n"
    "        if x{0} > {0}[i{0}]:\n            {0}[i{0}] = x{0}",
    "{0} = 0\nfor i{0} in range({2}.shape[0]):\n    {0} = i{0} if np.max({2}[i{0}]) == np.max({2}) else {0}",
    "{0} = {1} = {2}.ravel()[0]\nfor x{0} in {2}.ravel():\n    {0}, {1} = max({0}, x{0}), min({1}, x{0})",
    "{0} = True\nfor x{0} in {2}.ravel():\n    {0} = {0} and x{0} > -2",
    "{0} = 1\nfor i{0} in range({2}.shape[0]):\n    {0} *= i{0} + 1",
    "{0} = np.zeros(2)\nfor x{0} in {2}.ravel().real:\n    {0}[int(x{0} > 0)] += x{0}",
    "{0} = 0\nfor i{0} in range({2}.shape[0]):\n    if np.max({2}[i{0}]) < 0:\n        break\n    {0} = i{0}",
)  # fmt: skip
POWERS = (
    "{0} ** 2", "{0} ** 3", "{0} ** 4", "{0} ** 5", "{0} ** 2.0", "{0} ** 0.5", "{0} ** 1", "np.power({0}, 3)",
    "{0} ** -1.0",
    "np.power({0}, 2.0)", "{0} ** np.int8(3)", "{0} ** 7", "{0} ** 3.0", "{0} ** np.float32(2)", "(-{0}) ** 3",
    "{0} ** True",
    "({0} ** 2) ** 2", "{0} ** 2 / ({0} ** 2 + 1)", "{0} ** 16", "2 ** np.abs({0})", "{0} ** -2.0", "pow({0}, 3)",
)  # fmt: skip
RAISING = (  # what a function may end with: each raises in some iteration, perhaps
    "for i in range({2}.shape[0] + 1):\n    {2}[i] += 1",
    "for i in range({2}.shape[0]):\n    {2}[i] = {3}[i + k]",
    "for i in range(4):\n    {2}[i - 3] = {3}[i]",
    "for i in range({2}.shape[0]):\n    {2}[i] = 12 // (i - k)",
    "for i in range({2}.shape[0]):\n    {2}[i] = 5\n    if {2}[i] > k + i:\n        raise ValueError(f'no {{i}}')",
    "for i in range(3):\n    {2}[...] += 1\n    assert {2}[0] < 2 + k, 'too large'",
    "{0} = [1, 2]\nfor i in range(k + 2):\n    {2}[0] += {0}.pop()",
    "{0} = [1, 2, 3]\nfor i in range(3):\n    {2}[i] = {0}[i + k]",
    "{0} = np.array([0, 1, k])\nfor i in {0}:\n    {2}[i] += 2",
    "{0} = np.array([0, 1, k])\n{2}[{0}] += 2",
    "{0} = np.array([0, k, 1])\n{1} = np.zeros(3)\nfor i in range(3):\n    {1}[i] = {2}[{0}[i]].max()",
    "{0} = 0\nwhile True:\n    {0} += 1\n    {2}[{0}] = {0}",
    "{0} = {2}[0]\nfor i in range(5):\n    if {2}[i] > {0}:\n        {0} = {2}[i]",
    "{0} = 0\nfor i in range(5):\n    {0} += {3}[i] * {2}[i - 2]\n    {2}[i] = 0",
    "{0} = 7\nfor i in range(4):\n    {2}[0] += 1\n    {0} = {0} % (2 - i)",
    "for i in range(3):\n    for j in range(3):\n        if i * j == k:\n            raise IndexError\n"
    "        {2}[j - i] = i",
    "{0}, {1} = {2}, {3}\nfor i in range(4):\n    {0}[i] = {1}[0]\n    {0}, {1} = {1}, {0}",
    "{0} = {{'x': 1, 'y': 2}}\nif {6}:\n    {2}[0] = 1\n    raise KeyError('x')",
    "for i in range({2}.shape[0]):\n    if {2}[i] < 0:\n        {2}[i + 1] = {2}[i] // 2",
    "for i in range({2}.shape[0]):\n    {3}[i] = {2}[i] * 2\n    {2}[i] = {3}[i - 1]",
)  # fmt: skip
