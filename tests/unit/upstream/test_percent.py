from __future__ import annotations

import pytest

from discern_server.upstream.percent import (
    RESERVED_IN_FORM,
    RESERVED_IN_PATH,
    RESERVED_IN_QUERY,
    encode,
    encode_form,
    encode_literal,
    is_dot_segment,
    keeping,
)

GEN_DELIMS = ":/?#[]@"
SUB_DELIMS = "!$&'()*+,;="


def test_everything_but_unreserved_characters_is_encoded():
    """RFC 3986, section 2.3."""
    assert encode("aZ09-._~") == "aZ09-._~"
    assert encode(GEN_DELIMS) == "%3A%2F%3F%23%5B%5D%40"
    assert encode(SUB_DELIMS) == "%21%24%26%27%28%29%2A%2B%2C%3B%3D"
    assert encode("50% né\n") == "50%25%20n%C3%A9%0A"


def test_a_triplet_in_a_value_is_data():
    assert encode("%41") == "%2541"


def test_reserved_characters_stay_where_they_are_allowed_less_those_that_end_the_place():
    assert keeping(RESERVED_IN_QUERY)(GEN_DELIMS + SUB_DELIMS) == ":/?%23%5B%5D@!$%26'()*+,;="
    assert keeping(RESERVED_IN_PATH)(GEN_DELIMS + SUB_DELIMS) == ":%2F%3F%23%5B%5D@!$&'()*+,;="
    assert keeping(RESERVED_IN_FORM, plus=True)("a b+c=d&e:f") == "a+b%2Bc%3Dd%26e:f"


def test_reserved_expansion_keeps_triplets_and_encodes_other_percent_signs():
    """RFC 6570, section 3.2.3."""
    assert keeping(RESERVED_IN_QUERY)("%41 100% %zz") == "%41%20100%25%20%25zz"


def test_a_form_writes_a_space_as_plus():
    assert encode_form("a b+c") == "a+b%2Bc"


def test_a_template_keeps_what_a_path_may_hold():
    assert encode_literal("/a b/é/x:y@z/%20;v=1") == "/a%20b/%C3%A9/x:y@z/%20;v=1"


@pytest.mark.parametrize("segment", [".", "..", "%2e", "%2E.", ".%2e", "%2E%2e"])
def test_a_dot_segment_is_seen_in_any_spelling(segment):
    assert is_dot_segment(segment)


@pytest.mark.parametrize("segment", ["", "...", "a.", ".a", "%252e"])
def test_other_segments_are_none(segment):
    assert not is_dot_segment(segment)
