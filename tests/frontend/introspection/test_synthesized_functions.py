"""Functions with keywords that they do not name: one for each set of names."""

from __future__ import annotations

from dcpy.frontend.introspection.synthesized_functions import with_keywords


def named_itself(a, **options):
    return a if not options else named_itself(a)


def test_a_function_that_mentions_its_name_means_that_of_its_module():
    made = with_keywords(named_itself, ("scale",))
    assert made.__code__.co_freevars == ()
    assert "named_itself" in made.__code__.co_names
    assert made.__code__.co_varnames[:2] == ("a", "scale")


def test_a_local_function_that_mentions_its_name_means_itself():
    def local(a, **options):
        return a if not options else local(a)

    made = with_keywords(local, ())
    assert made.__code__.co_freevars == ("local",)
    assert made.__closure__ is not None
    assert made.__closure__[0].cell_contents is local
