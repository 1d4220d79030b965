"""Loops of launches in the text of the host: bands of iterations that are recorded, and loops that are not."""

from dcpy.base.options import resolve_options
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.ir.text import parse_sdfg
from dcpy.transforms.gpu.lowering import lower_for_gpu


def host_text(body, **options):
    sdfg = parse_sdfg(
        f"""
        sdfg @f(A: f64[N], B: f64[N], T, s: f64[1]) symbols(N: size {{least = 3}}, T: i64) {{
          loop t = 0:T {{ {body} }}
        }}"""
    )
    chosen = resolve_options({"device": "gpu", "gpu.backend": "simulator", **options})
    lower_for_gpu(sdfg, chosen)
    return generate_gpu(sdfg, options=chosen).units[0].text


SWEEP = """state {
  map i = 1:N - 1 { tasklet (a <- A[i - 1], b <- A[i + 1]) -> (o -> B[i]) { o = a + b } }
  map j = 1:N - 1 { tasklet (a <- B[N - 1 - j]) -> (o -> A[j]) { o = a } }
}"""
RAMP = "state { map i = 1:N { tasklet (a <- A[i - 1]) -> (o -> B[i]) { o = a + f64(t) } } }"


def test_what_does_not_depend_on_the_counter_is_recorded_once():
    text = host_text(SWEEP)
    assert "if (dcpy_has_graphs() && 63 < T)" in text
    assert "for (int64_t t_band = 0; t_band < T; t_band += 32)" in text
    assert "if (t_band == 0)" in text
    launches = text.count(" dcpy_launch(") - text.count("void dcpy_launch(")
    assert launches == 7  # two that are recorded, two of what is left of a band, two of a short loop; all in one block


def test_what_depends_on_the_counter_is_recorded_band_by_band():
    text = host_text(RAMP + "state { map i = 0:N { tasklet (a <- B[i]) -> (o -> A[i]) { o = a } } }")
    assert "dcpy_graph_replay(0);" in text
    assert "if (t_band == 0)" not in text


def test_loops_in_which_the_host_has_something_to_do_are_not_recorded():
    assert "dcpy_graph_begin(0)" not in host_text(SWEEP + "if s[0] > f64(t) { break }")
    assert "dcpy_graph_begin(0)" not in host_text(SWEEP, **{"gpu.graphs": False})


def test_numbers_of_the_host_are_computed_while_a_band_is_recorded():
    text = host_text(SWEEP + "state { tasklet (a <- s[0]) -> (o -> s[0]) { o = a + 1.0 } }")
    band = text[text.index("dcpy_graph_begin(0);") : text.index("dcpy_graph_end(0);")]
    assert "s[0] += 1.0;" in band
    assert "if (t_band == 0)" not in text  # not only of the first one
