from __future__ import annotations

import base64
import json
from email import message_from_bytes, policy
from urllib.parse import parse_qsl

import pytest

from discern_server.upstream.binding import BodyBinding, FieldEncoding
from discern_server.upstream.bodies import write_body
from discern_server.upstream.findings import ArgumentError

PNG = b"\x89PNG\r\n\x1a\n\x00\xff"


def write(kind, media_type, value, **fields):
    return write_body(BodyBinding(argument="body", media_type=media_type, kind=kind, fields=fields), value)


def fault(kind, media_type, value, **fields):
    with pytest.raises(ArgumentError) as caught:
        write(kind, media_type, value, **fields)
    return caught.value.diagnostic


def file(data=PNG, **members):
    return {"base64": base64.b64encode(data).decode("ascii"), **members}


def parts_of(body):
    """The parts of a multipart body as an independent parser reads them."""
    raw = b"Content-Type: " + body.content_type.encode() + b"\r\n\r\n" + body.data
    message = message_from_bytes(raw, policy=policy.HTTP)
    return [
        (
            part.get_param("name", header="content-disposition"),
            part.get_payload(decode=True),
            part.get("Content-Type"),
            part.get_filename(),
        )
        for part in message.iter_parts()
    ]


# --- JSON, text, bytes --------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [{"a": None, "b": "é"}, [], None, "x", 9223372036854775807, False])
def test_json_goes_out_as_it_is(value):
    body = write("json", "application/merge-patch+json", value)
    assert body.content_type == "application/merge-patch+json"
    assert json.loads(body.data) == value


def test_json_lines_are_one_text_a_line():
    assert write("json_lines", "application/x-ndjson", [{"a": 1}, "x"]).data == b'{"a":1}\n"x"\n'
    assert fault("json_lines", "application/x-ndjson", {"a": 1}).path == "/body"


def test_text_is_not_quoted_and_says_its_charset():
    body = write("text", "text/plain", 'héllo "q"')
    assert (body.content_type, body.data) == ("text/plain; charset=utf-8", 'héllo "q"'.encode())
    xml = write("text", "application/xml", "<a>é</a>")
    assert (xml.content_type, xml.data) == ("application/xml", "<a>é</a>".encode())


def test_text_is_written_in_the_charset_that_the_description_names():
    assert write("text", "text/plain; charset=ISO-8859-1", "é").data == b"\xe9"
    assert "'€'" in fault("text", "text/plain; charset=ISO-8859-1", "5 €").message


def test_bytes_come_out_of_base64():
    body = write("binary", "application/zip", file(b"PK\x03\x04\x00\xfe"))
    assert (body.content_type, body.data) == ("application/zip", b"PK\x03\x04\x00\xfe")
    assert write("binary", "application/zip", {"text": "é"}).data == "é".encode()


def test_a_range_of_media_types_becomes_the_files_own():
    assert write("binary", "image/*", file(content_type="image/png")).content_type == "image/png"
    assert write("binary", "image/*", file()).content_type == "application/octet-stream"


def test_base64_may_have_line_breaks():
    wrapped = base64.encodebytes(bytes(range(256))).decode("ascii")
    assert write("binary", "application/zip", {"base64": wrapped}).data == bytes(range(256))


def test_broken_base64_is_refused_with_the_mend():
    found = fault("binary", "application/zip", {"base64": "data:image/png;base64,iVBORw0KGgo="})
    assert found.path == "/body/base64"
    assert "data:" in (found.fix or "")


@pytest.mark.parametrize("value", [{}, {"base64": "", "text": ""}, "aGk=", {"filename": "x"}])
def test_a_file_needs_one_kind_of_content(value):
    assert fault("binary", "application/zip", value).rule == "argument.file"


@pytest.mark.parametrize("content_type", ["png", "image/png\r\nX: 1", "image/png; a", "a/b/c"])
def test_a_files_content_type_must_be_one(content_type):
    assert fault("binary", "*/*", file(content_type=content_type)).path == "/body/content_type"


# --- forms --------------------------------------------------------------------------------------------


def form(value, **fields):
    return parse_qsl(write("form", "application/x-www-form-urlencoded", value, **fields).data.decode(), True)


def test_a_form_repeats_the_name_for_each_item_and_leaves_out_the_undefined():
    value = {"amount": 5, "note": "a&b=c é", "expand": ["x", "y"], "live": True, "none": None, "empty": []}
    assert form(value) == [("amount", "5"), ("note", "a&b=c é"), ("expand", "x"), ("expand", "y"), ("live", "true")]


def test_an_object_in_a_form_is_json():
    """OpenAPI 3.2, Encoding Object, contentType."""
    assert form({"a": {"city": "X"}, "b": [{"n": 1}]}) == [("a", '{"city":"X"}'), ("b", '{"n":1}')]


def test_a_field_with_a_style_is_written_as_a_query_parameter():
    fields = {
        "where": FieldEncoding(kind="text", style="deepObject"),
        "ids": FieldEncoding(kind="text", style="pipeDelimited", explode=False),
    }
    assert form({"where": {"a": 1}, "ids": [1, 2]}, **fields) == [("where[a]", "1"), ("ids", "1|2")]


def test_a_file_in_a_form_is_its_bytes():
    body = write("form", "application/x-www-form-urlencoded", {"f": file(b"\x00a+")})
    assert body.data == b"f=%00a%2B"


def test_reserved_characters_in_a_form_start_no_other_field():
    body = write(
        "form",
        "application/x-www-form-urlencoded",
        {"q": "a:b&c=d+e f"},
        q=FieldEncoding(kind="text", style="form", allow_reserved=True),
    )
    assert body.data == b"q=a:b%26c%3Dd%2Be+f"


def test_a_form_needs_an_object():
    assert fault("form", "application/x-www-form-urlencoded", ["a"]).path == "/body"


# --- multipart ----------------------------------------------------------------------------------------


def test_a_file_goes_out_as_its_bytes_with_name_and_type():
    body = write(
        "multipart",
        "multipart/form-data",
        {"file": file(filename="p.png", content_type="image/png"), "title": "t é", "tags": ["a", "b"], "none": None},
        file=FieldEncoding(kind="file"),
    )
    assert parts_of(body) == [
        ("file", PNG, "image/png", "p.png"),
        ("title", "t é".encode(), None, None),
        ("tags", b"a", None, None),
        ("tags", b"b", None, None),
    ]


def test_a_part_has_the_type_that_the_description_gives():
    body = write(
        "multipart",
        "multipart/form-data",
        {"logo": file(), "photos": [file(b"1"), file(b"2", filename="two")], "meta": {"a": 1}, "xml": "<a/>"},
        logo=FieldEncoding(kind="file", content_types=("image/png", "image/jpeg")),
        photos=FieldEncoding(kind="file", content_types=("image/*",)),
        xml=FieldEncoding(kind="text", content_types=("application/xml",)),
    )
    assert parts_of(body) == [
        ("logo", PNG, "image/png", "logo"),
        ("photos", b"1", "application/octet-stream", "photos"),
        ("photos", b"2", "application/octet-stream", "two"),
        ("meta", b'{"a":1}', "application/json", None),
        ("xml", b"<a/>", "application/xml", None),
    ]


def test_a_part_with_a_style_is_written_as_a_query_parameter():
    body = write(
        "multipart",
        "multipart/form-data",
        {"ids": [1, 2]},
        ids=FieldEncoding(kind="text", style="spaceDelimited", explode=False),
    )
    assert parts_of(body) == [("ids", b"1 2", None, None)]


def test_names_of_parts_and_files_start_no_other_header():
    """RFC 7578, section 4.2, and the HTML Standard's multipart/form-data encoding."""
    body = write("multipart", "multipart/form-data", {'a"\r\nX: 1': file(filename='ü"\r\n.png')})
    head = body.data.split(b"\r\n\r\n")[0].decode()
    assert 'name="a%22%0D%0AX: 1"; filename="ü%22%0D%0A.png"' in head
    assert "\r\nX: 1" not in head


def test_no_part_holds_the_boundary_and_the_same_call_gives_the_same_bytes():
    first = write("multipart", "multipart/form-data", {"a": "1"})
    boundary = first.content_type.partition("boundary=")[2]
    again = write("multipart", "multipart/form-data", {"a": "1"})
    hostile = write("multipart", "multipart/form-data", {"a": f"--{boundary}--"})
    assert (again.content_type, again.data) == (first.content_type, first.data)
    assert parts_of(hostile) == [("a", f"--{boundary}--".encode(), None, None)]


def test_a_fault_in_a_list_of_files_names_the_item():
    assert fault(
        "multipart", "multipart/form-data", {"f": [file(), {"base64": "?"}]}, f=FieldEncoding(kind="file")
    ).path == ("/body/f/1/base64")
