"""Styles, by the tables of RFC 6570 and of the OpenAPI Specification."""

from __future__ import annotations

import pytest

from discern_server.upstream.percent import encode
from discern_server.upstream.styles import as_text, pairs, segment

COLORS = ["blue", "black", "brown"]
RGB = {"R": 100, "G": 200, "B": 150}
KEYS = {"semi": ";", "dot": ".", "comma": ","}
LIST = ["red", "green", "blue"]

OPENAPI_PATHS = [
    # OpenAPI 3.2, "Style Examples": style, explode, value, what is written.
    ("matrix", False, "", ";color"),
    ("matrix", True, "", ";color"),
    ("matrix", False, "blue", ";color=blue"),
    ("matrix", False, COLORS, ";color=blue,black,brown"),
    ("matrix", True, COLORS, ";color=blue;color=black;color=brown"),
    ("matrix", False, RGB, ";color=R,100,G,200,B,150"),
    ("matrix", True, RGB, ";R=100;G=200;B=150"),
    ("label", False, "", "."),
    ("label", False, "blue", ".blue"),
    ("label", False, COLORS, ".blue,black,brown"),
    ("label", True, COLORS, ".blue.black.brown"),
    ("label", False, RGB, ".R,100,G,200,B,150"),
    ("label", True, RGB, ".R=100.G=200.B=150"),
    ("simple", False, "", ""),
    ("simple", False, "blue", "blue"),
    ("simple", False, COLORS, "blue,black,brown"),
    ("simple", True, COLORS, "blue,black,brown"),
    ("simple", False, RGB, "R,100,G,200,B,150"),
    ("simple", True, RGB, "R=100,G=200,B=150"),
    # Swagger 2.0, collectionFormat.
    ("spaceDelimited", False, COLORS, "blue%20black%20brown"),
    ("pipeDelimited", False, COLORS, "blue%7Cblack%7Cbrown"),
    ("tabDelimited", False, COLORS, "blue%09black%09brown"),
]

OPENAPI_QUERIES = [
    ("form", False, "", "color="),
    ("form", True, "", "color="),
    ("form", True, "blue", "color=blue"),
    ("form", False, COLORS, "color=blue,black,brown"),
    ("form", True, COLORS, "color=blue&color=black&color=brown"),
    ("form", False, RGB, "color=R,100,G,200,B,150"),
    ("form", True, RGB, "R=100&G=200&B=150"),
    ("spaceDelimited", False, COLORS, "color=blue%20black%20brown"),
    ("spaceDelimited", False, RGB, "color=R%20100%20G%20200%20B%20150"),
    ("spaceDelimited", True, COLORS, "color=blue&color=black&color=brown"),
    ("pipeDelimited", False, COLORS, "color=blue%7Cblack%7Cbrown"),
    ("pipeDelimited", False, RGB, "color=R%7C100%7CG%7C200%7CB%7C150"),
    ("tabDelimited", False, COLORS, "color=blue%09black%09brown"),
    ("deepObject", True, RGB, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
    ("deepObject", True, "blue", "color=blue"),
    # Beyond the specification: what servers read.
    ("deepObject", True, {"a": {"b": 1}}, "color%5Ba%5D%5Bb%5D=1"),
    ("deepObject", True, {"a": ["x", "y"]}, "color%5Ba%5D=x&color%5Ba%5D=y"),
    ("deepObject", True, ["x", "y"], "color%5B%5D=x&color%5B%5D=y"),
    ("deepObject", True, {"a": [{"b": 1}, {"b": 2}]}, "color%5Ba%5D%5B0%5D%5Bb%5D=1&color%5Ba%5D%5B1%5D%5Bb%5D=2"),
]

RFC_6570 = [
    # RFC 6570, sections 3.2.2, 3.2.5, 3.2.7: the template, and its expansion.
    ("simple", False, "value", "value"),
    ("simple", False, "Hello World!", "Hello%20World%21"),
    ("simple", False, LIST, "red,green,blue"),
    ("simple", False, KEYS, "semi,%3B,dot,.,comma,%2C"),
    ("simple", True, KEYS, "semi=%3B,dot=.,comma=%2C"),
    ("label", True, LIST, ".red.green.blue"),
    ("label", False, KEYS, ".semi,%3B,dot,.,comma,%2C"),
    ("label", True, KEYS, ".semi=%3B.dot=..comma=%2C"),
    ("matrix", True, LIST, ";color=red;color=green;color=blue"),
    ("matrix", False, KEYS, ";color=semi,%3B,dot,.,comma,%2C"),
    ("matrix", True, KEYS, ";semi=%3B;dot=.;comma=%2C"),
]


def query(value, style, explode):
    return "&".join(f"{name}={text}" for name, text in pairs("color", value, style, explode, encode))


@pytest.mark.parametrize(("style", "explode", "value", "written"), [*OPENAPI_PATHS, *RFC_6570])
def test_a_path_value_is_written_in_its_style(style, explode, value, written):
    assert segment("color", value, style, explode, encode) == written


@pytest.mark.parametrize(("style", "explode", "value", "written"), OPENAPI_QUERIES)
def test_a_query_value_is_written_in_its_style(style, explode, value, written):
    assert query(value, style, explode) == written


UNDEFINED = [None, [], {}, [None], {"a": None}]


@pytest.mark.parametrize("value", UNDEFINED)
@pytest.mark.parametrize("style", ["form", "spaceDelimited", "deepObject", "cookie"])
def test_what_is_undefined_is_left_out_of_a_query(value, style):
    """RFC 6570, section 2.3: null, an empty list, an object without members."""
    assert pairs("color", value, style, True, encode) == []
    assert pairs("color", value, style, False, encode) == []


@pytest.mark.parametrize("value", UNDEFINED)
@pytest.mark.parametrize("style", ["simple", "label", "matrix"])
def test_what_is_undefined_has_no_path_text(value, style):
    assert segment("color", value, style, False, encode) is None


def test_undefined_members_are_left_out():
    """RFC 6570, section 2.3."""
    assert query(["a", None, "b"], "form", False) == "color=a,b"
    assert query({"a": None, "b": 2}, "form", False) == "color=b,2"
    assert query({"a": None, "b": {"c": None}, "d": 1, "e": []}, "deepObject", True) == "color%5Bd%5D=1"


def test_an_item_that_holds_the_delimiter_is_encoded():
    assert query(["a,b", "c"], "form", False) == "color=a%2Cb,c"
    assert query(["a|b", "c"], "pipeDelimited", False) == "color=a%7Cb%7Cc"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (9007199254740993, "9007199254740993"),
        (3.0, "3"),
        (-0.5, "-0.5"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        ({"a": [1, "é"]}, '{"a":[1,"é"]}'),
    ],
    ids=repr,
)
def test_a_scalar_is_written_as_json_writes_it_and_a_nested_value_as_json(value, text):
    assert as_text(value) == text


def test_lists_in_a_list_have_their_own_styles():
    """Swagger 2.0, Items Object, ``collectionFormat``."""
    value = [["a", "b"], ["c,d", ["e", "f"]]]
    assert segment("p", value, "simple", False, encode, ("pipeDelimited", "form")) == "a%7Cb,c%2Cd%7Ce,f"
    assert pairs("p", [[1, 2], 3], "form", True, encode, ("form",)) == [("p", "1,2"), ("p", "3")]
    assert pairs("p", [[1, 2]], "form", True, encode) == [("p", "%5B1%2C2%5D")]
