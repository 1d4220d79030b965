"""The lines of programs with lists, dictionaries, generators and comprehensions, and expressions that use these up.

In the templates {0} and {1} are new names, {2} and {3} arrays, {4} an expression, {5} and {8} numbers, {6} a condition.
"""

from __future__ import annotations

LISTS = (
    "{0} = []\nfor i{0} in range(k + 3):\n    {0}.append({5} + i{0})\n{1} = as_array({0})",
    "{0} = []\nfor x{0} in {2}.ravel():\n    if x{0} > 0:\n        {0}.append(x{0})\n{1} = len({0})\n"
    "q{0} = as_array({0})",
    "{0} = [0] * ({2}.shape[0] + 1)\nfor i{0} in range({2}.shape[0]):\n    {0}[i{0} + 1] = {0}[i{0}] + i{0}\n"
    "{1} = as_array({0})",
    "{0} = [{5}, {8}]\n{1} = {0}\n{1}.append({5})\n{1}[0] = {8}\nq{0} = as_array({0})\nr{0} = len({0})",
    "{0} = [{5}, {8}, {5}]\n{1} = {0}.pop()\n{0}[-1] = {1}\nq{0} = {0}[0] + {0}[-1]",
    "{0} = [{5}, {8}]\nfor i{0} in range(3):\n    {0}[i{0} % 2] = {0}[i{0} % 2 - 1] + i{0}\n{1} = {0}[0] - {0}[1]",
    "{0} = [i{0} * i{0} for i{0} in range({2}.shape[0])]\n{1} = sum({0})\n{0}.reverse()\nq{0} = as_array({0})",
    "{0} = [x{0} for x{0} in {2}.ravel() if x{0} != 0]\n{1} = as_array({0})",
    "{0} = [[i{0} + j{0} for j{0} in range(3)] for i{0} in range({2}.shape[0])]\n{1} = as_array({0})",
    "{0} = list({2}.shape)\n{0}[0] += 1\n{1} = np.zeros({0})",
    "{0} = [{2}, {3}]\n{0}[0][0] = {5}\n{0}[1] = {2} + 1\n{1} = {0}[0] + {0}[1]",
    "{0} = [{2}, {3}]\n{0}[0], {0}[1] = {0}[1], {0}[0]\n{0}[0] += 1\n{1} = {0}[0]",
    "{0} = [{2}.copy(), {3}.copy()]\nfor i{0} in range(3):\n    {0}[i{0} % 2][0] += i{0}\n{1} = np.stack({0})",
    "{0} = []\nwhile len({0}) < k + 2:\n    {0}.append(len({0}) * 2)\n{1} = sum({0})",
    "{0} = [1, 2, 3]\nw{0} = 0\nwhile {0} and w{0} < 5:\n    w{0} += {0}.pop()\n{1} = len({0})",
    "{0} = [1, 2, 3]\n{0}.insert(1, {5})\n{0}.extend([{8}, 4])\ndel {0}[0]\n{1} = as_array({0})",
    "{0} = [3, 1, 2, k]\n{0}.sort()\n{1} = {0}.index(2)\nq{0} = {0}[1:3]\nq{0}[0] = 9\nr{0} = as_array({0})",
    "{0} = [3, 1, k]\n{1} = sorted({0})[0]\nq{0} = k in {0}\nr{0} = {0}.count(1)\ns{0} = max({0}) - min({0})",
    "{0} = [(i{0}, i{0} + k) for i{0} in range(3)]\n{1} = 0\nfor x{0}, y{0} in {0}:\n    {1} += x{0} * y{0}",
    "{0} = [0, 0, 0]\nfor x{0} in {2}.ravel():\n    {0}[x{0} > 0] += 1\n{1} = {0}[1]",
    "{0} = [1, 2] + [k]\n{0} += [5]\n{0} *= 2\n{1} = len({0})\nq{0} = {0}[-1]",
    "{0} = []\nfor i{0} in range({2}.shape[0]):\n    {0}.append({2}[i{0}])\n    if {6}:\n        break\n"
    "{1} = len({0})",
    "{0} = []\nfor i{0} in range({2}.shape[0]):\n    if i{0} % 2:\n        {0}.append(i{0})\n    elif {0}:\n"
    "        {0}.pop()\n"
    "{1} = len({0})",
    "{0} = [{5}]\nif {6}:\n    {0}.append({8})\n{1} = len({0})\nq{0} = {0}[-1]",
    "{0} = [k, 2] if {6} else [3]\n{0}.append(4)\n{1} = as_array({0})",
    "{0} = [{2}.sum() for i{0} in range(3)]\n{0}[1] = {0}[0]\n{1} = as_array({0})",
    "{0} = as_array([scaled(x{0}) for x{0} in {2}])\n{1} = as_array([i{0} * k for i{0} in range({2}.size)])",
    "def g{0}(x):\n    x.append(k)\n    return len(x)\n{0} = [1]\n{1} = g{0}({0}) + g{0}({0})\nq{0} = {0}[-1]",
    "{0} = [[], []]\nfor i{0} in range(4):\n    {0}[i{0} % 2].append(i{0})\n{1} = len({0}[0])\nq{0} = {0}[1][-1]",
    "{0} = [{2}[i{0}] for i{0} in range({2}.shape[0]) if i{0} != k]\n{1} = len({0})",
    "{0} = [1, 2, 3, 4]\n{1} = 0\nfor i{0} in range(3):\n    {1} = {1} * 10 + {0}[i{0} - k % 2]\n"
    "    {0}[i{0}] = {0}[i{0} + 1]",
    "{0} = {2}.tolist() if {2}.ndim == 1 else [1]\n{0}[0] = {0}[-1]\n{1} = len({0})",
    "*{0}, {1} = [k, 2, 3]\n{0}[0] += {1}\nq{0} = as_array({0})",
    "{0} = [i{0} for i{0} in range(5)]\n{0}[1:3] = [7, 8, 9]\n{1} = as_array({0})\nq{0} = {0}[::-1][0]",
    "{0} = [k] * 3\n{1} = {0}[:]\n{1}[0] = 9\nq{0} = {0}[0]\nr{0} = {1} == {0}",
)  # fmt: skip
DICTIONARIES = (
    "{0} = {{'x': {2}, 'y': {5}}}\n{0}['x'][0] = {0}['y']\n{0}['z'] = {8}\n{1} = len({0})",
    "{0} = {{'x': {5}}}\nfor i{0} in range(3):\n    {0}['x'] = {0}['x'] + i{0}\n{1} = {0}['x']",
    "{0} = {{'x': {2}, 'y': {3}}}\nfor n{0}, v{0} in {0}.items():\n    v{0} += 1\n{1} = {0}['x'] + 1",
    "{0} = dict(x={5}, y={8})\n{1} = {0}.get('x', 1) + {0}.get('w', 2)\nq{0} = {0}.pop('y')\nr{0} = 'y' in {0}",
    "{0} = {{i{0}: i{0} * {5} for i{0} in range(3)}}\n{1} = sum({0}.values())\nq{0} = {0}[2]",
    "{0} = {{'x': {2}, 'y': {3}}}\n{0}['x'], {0}['y'] = {0}['y'], {0}['x']\n{0}['x'][...] = 2\n{1} = {0}['y'] * 2",
    "{0} = {{}}\nif {6}:\n    {0}['x'] = {5}\nelse:\n    {0}['x'] = {8}\n{1} = {0}['x']",
    "{0} = {{'x': 1}}\n{0}.update(y=k)\n{0}.setdefault('x', 7)\n{1} = {0}['x'] + {0}['y']\nq{0} = len({0}.keys())",
    "{0} = {{'x': [1, k]}}\n{0}['x'].append(3)\n{0}['x'][0] = {5}\n{1} = len({0}['x'])\nq{0} = {0}['x'][0]",
    "{0} = {{'u': {2}, 'v': {3}}}\nfor i{0} in range(3):\n    {0}['u'][0] += i{0}\n"
    "    {0}['u'], {0}['v'] = {0}['v'], {0}['u']",
    "{0} = {{'x': {5}, 'y': {8}}}\n{1} = scaled(**{{'x': {0}['x'], 'factor': {0}['y']}})",
)  # fmt: skip
GENERATORS = (
    "def g{0}(x):\n    for v in x:\n        yield v * 2\n{0} = 0\nfor y{0} in g{0}({2}.ravel()):\n"
    "    {0} = {0} + y{0}",
    "def g{0}(n):\n    x, y = 0, 1\n    while x < n:\n        yield x\n        x, y = y, x + y\n"
    "{0} = sum(g{0}(k + 9))",
    "def g{0}(x):\n    yield x\n    x += 1\n    yield x[::-1]\n{0} = 0\nfor y{0} in g{0}({2}):\n"
    "    {0} = {0} + y{0}.sum()\n"
    "    y{0}[0] = 2",
    "def g{0}(n):\n    for i in range(n):\n        if i % 2:\n            continue\n        yield i\n"
    "{0} = [x{0} for x{0} in g{0}(7)]\n"
    "{1} = len({0})",
    "{0} = as_array([x{0} * 2 for x{0} in {2}.ravel() if x{0} > 0])\n{1} = {0}.size",
    "{0} = any(x{0} > 1 for x{0} in {2}.ravel())\n{1} = all(x{0} > -9 for x{0} in {2}.ravel())",
    "{0} = 0\nfor i{0}, (x{0}, y{0}) in enumerate(zip({2}, {2}[::-1])):\n    {0} = {0} + np.max(x{0}) * i{0}\n"
    "    if {6}:\n        break",
    "{0} = next((i{0} for i{0} in range({2}.shape[0]) if np.max({2}[i{0}]) > 0), -1)",
    "{0} = sum(i{0} * j{0} for i{0} in range({2}.shape[0]) for j{0} in range(i{0}))",
)  # fmt: skip
CONSUMED = (  # expressions
    "sum(x * x for x in {0}.ravel())", "max((abs(x) for x in {0}.ravel()), default=0)", "min(x for x in {0}.ravel())",
    "sorted(int(x) for x in np.sign({0}).ravel().real)[0]", "sum([1 for x in {0}.ravel() if x > 0])",
    "len([x for x in {0}])",
    "as_array([np.max(x) for x in {0}])", "as_array([x + 1 for x in {0}])",
    "as_array([[x, x * 2] for x in {0}.ravel()])",
    "np.sum([x for x in {0}.ravel()])", "np.array(list({0}.shape)) + 1", "max(x for x in (k, 2, {0}.size))",
    "sum(x > 0 and x < 2 for x in {0}.ravel())", "as_array([{1} for _ in range({0}.shape[0])])",
)  # fmt: skip
RESULTS = (  # what a function ends with
    "return [{5}, {8}]", "return [x for x in range({2}.shape[0])]", "return {{'x': {2}, 'y': {5}}}",
    "return [{2}, {3}]",
    "{0} = []\nfor i in range({2}.shape[0]):\n    if i != k:\n        {0}.append(i * 2)\nreturn {0}",
    "{0} = [0.5] * {2}.shape[0]\nfor i in range({2}.shape[0]):\n    {0}[i] += i\nreturn {0}, {2}",
    "return [i / 2 for i in range(k + 3) if i != 1], k",
)  # fmt: skip
