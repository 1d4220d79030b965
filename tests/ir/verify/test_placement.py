"""Rules about devices: each with a program that breaks it, and nothing else."""

import pytest

from dcpy.ir.text import parse_sdfg
from dcpy.ir.verify import form_named
from dcpy.ir.verify.forms import CODEGEN_FORM
from dcpy.ir.verify.rule import rules_of
from dcpy.ir.verify.rules import placement
from dcpy.ir.verify.verifier import problems

HEAD = "sdfg @f(A: f64[N], s: f64[1]) symbols(N: size) { data gpu_A: f64[N] transient @global @heap "
TO, BACK = "state { copy A[0:N] -> gpu_A[0:N] } ", "state { copy gpu_A[0:N] -> A[0:N] } "


def kernel(body, declared=""):
    return f"state {{ map b = 0:N:8 @grid {{ {declared} {body} }} }} "


def threads(body):
    return f"map i = b:min(N, b + 8) @block {{ {body} }}"


DOUBLED = "tasklet (a <- gpu_A[i]) -> (o -> gpu_A[i]) { o = a + a }"
RIGHT = HEAD + TO + kernel(threads(DOUBLED)) + BACK + "}"


def broken(text):
    return [(problem.rule, problem.message) for problem in problems(parse_sdfg(text), CODEGEN_FORM)]


def test_a_program_that_breaks_none():
    assert broken(RIGHT) == []


WRONG = {
    "placement.nesting": (
        RIGHT.replace("@block {", "@grid {"),
        "the kernel over i is inside of a kernel",
    ),
    "placement.nesting (threads)": (
        RIGHT[: RIGHT.index("data")] + "state { map i = 0:N @block { tasklet () -> (o -> A[i]) { o = 1.0 } } } }",
        "the map over i is @block, but in no map that is @grid",
    ),
    "placement.barriers": (
        HEAD + TO + kernel(threads("if i > 3 { state { map j = i:i + 1 @block { "
        "tasklet (a <- gpu_A[j]) -> (o -> gpu_A[j]) { o = a + a } } } }")) + BACK + "}",
        "threads of a block may differ in whether they come to the map over j",
    ),
    "placement.recorded": (
        HEAD + TO + "loop t = 0:9 @recorded{width = 2} { " + kernel(threads(DOUBLED)) + BACK + "} }",
        "loop t is @recorded{width = 2}: copy to A is no kernel, and touches 'gpu_A' on the device",
    ),
    "placement.recorded (nothing)": (
        HEAD + TO + "loop t = 0:9 @recorded { } " + BACK + "}",
        "loop t is @recorded, but launches no kernel",
    ),
    "placement.recorded (kernels)": (
        HEAD + TO + kernel("loop t = 0:9 @recorded { state { " + threads(DOUBLED) + " } }") + BACK + "}",
        "loop t is @recorded, but in a kernel",
    ),
    "placement.sides": (
        HEAD + TO + kernel(threads(DOUBLED)) + "state { tasklet (a <- gpu_A[0]) -> (o -> s[0]) { o = a } } "
        + BACK + "}",
        "the host runs tasklet to s, but 'gpu_A' is in the memory of a device",
    ),
    "placement.sides (kernels)": (
        HEAD + TO + kernel(threads("tasklet (a <- A[i]) -> (o -> gpu_A[i]) { o = a + a }")) + BACK + "}",
        "a kernel runs tasklet to gpu_A, but 'A' is in the memory of the host",
    ),
    "placement.sides (conditions)": (
        HEAD + TO + kernel(threads(DOUBLED)) + "if gpu_A[0] > 1.0 { } " + BACK + "}",
        "the host runs branch, but 'gpu_A' is in the memory of a device",
    ),
    "placement.sides (numbers)": (
        HEAD + "data n: f64 transient @register " + TO
        + kernel(threads("tasklet () -> (o -> n) { o = 1.0 }")) + BACK + "}",
        "a kernel runs tasklet to n, but 'n' is in the memory of the host",
    ),
    "placement.shared": (
        HEAD + TO + kernel(threads(DOUBLED), "data t: f64[29057] transient @shared @stack") + BACK + "}",
        "the threads of a block share 232456 bytes; 232448 are the most",
    ),
    "placement.shared (sizes)": (
        HEAD + TO + kernel(threads(DOUBLED), "data t: f64[N] transient @shared @heap") + BACK + "}",
        "'t' is shared by a block, but its size is not a number",
    ),
    "placement.private": (
        HEAD + TO + kernel(threads("data t: f64[N] transient @heap " + DOUBLED)) + BACK + "}",
        "'t' is declared in a kernel and on the heap: threads cannot allocate",
    ),
    "placement.private (global)": (
        HEAD + TO + kernel(threads("data t: f64[8] transient @global @stack " + DOUBLED)) + BACK + "}",
        "'t' is declared in a kernel, but in the memory of the whole device",
    ),
    "placement.validity": (
        HEAD + kernel(threads(DOUBLED)) + BACK + "}",
        "'A' is not valid on the device at map b: a copy is missing",
    ),
    "placement.validity (back)": (
        HEAD + TO + kernel(threads(DOUBLED)) + "if N > 1 { " + BACK + "} }",
        "'A' is not valid on the host at the end: a copy is missing",
    ),
    "placement.validity (loops)": (
        HEAD + TO + "loop t = 0:2 { " + kernel(threads(DOUBLED)) + BACK
        + "loop k = 0:N { state { tasklet (a <- A[k]) -> (o -> A[k]) { o = a } } } } }",
        "'A' is not valid on the device at map b: a copy is missing",
    ),
    "placement.validity (while)": (
        HEAD + TO + "while A[0] < 1.0 { " + kernel(threads(DOUBLED)) + "} " + BACK + "}",
        "'A' is not valid on the host at while: a copy is missing",
    ),
    "placement.validity (failures)": (
        HEAD + TO + kernel(threads(DOUBLED)) + 'check N > 1 else ValueError "few" ' + BACK + "}",
        "'A' is not valid for the caller where check fails: a copy is missing",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_program_that_breaks_one(case):
    text, message = WRONG[case]
    assert broken(text) == [(case.split()[0], message)]


def test_every_rule_is_broken_once():
    assert {rule.name for rule in rules_of(placement)} == {case.split()[0] for case in WRONG}
    assert set(rules_of(placement)) <= set(form_named("codegen").rules)
