"""Rules by which outward text is made harmless."""

from dataclasses import replace
from typing import Any

import pytest

from taoloop.action.policies.sanitising import Content, Sanitised, Sanitiser, sanitise, sanitise_text
from taoloop.tools.compiled import CompiledTool
from tests.unit.action.contracts import CHANGE, LOOK_UP

PLAIN, HTML, MARKDOWN = Content


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


PAYLOADS = [
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.test/x.js></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    "<img/src=`x`onerror=alert(1)//",
    "<svg/onload=alert(1)>",
    "<svg><script>alert&#40;1)</script></svg>",
    "<math><mi><mglyph><style><img src=x onerror=alert(1)></style>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<body onload=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href='JaVaScRiPt:alert(1)'>x</a>",
    "<a href='java\tscript:alert(1)'>x</a>",
    "<a href='&#106;avascript:alert(1)'>x</a>",
    "<a href='data:text/html;base64,PHNjcmlwdD4='>x</a>",
    "<a href='vbscript:msgbox(1)'>x</a>",
    "<form action=javascript:alert(1)><button>x</button></form>",
    "<object data='data:text/html,<script>alert(1)</script>'></object>",
    "<embed src='javascript:alert(1)'>",
    "<link rel=stylesheet href=javascript:alert(1)>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<base href='javascript:alert(1)//'>",
    "<style>@import 'javascript:alert(1)';</style>",
    "<div style='background:url(javascript:alert(1))'>x</div>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<template><script>alert(1)</script></template>",
    "<!--><script>alert(1)</script>-->",
    "<p>hi<scr<script>ipt>alert(1)</scr</script>ipt></p>",
    "\x00<scr\x00ipt>alert(1)</script>",
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_html_keeps_nothing_that_runs(payload: str) -> None:
    harmless = sanitise_text(f"<p>Hello</p>{payload}", HTML).lower()
    assert harmless.startswith("<p>hello")
    for running in ("<script", "onerror=", "onload=", "javascript:", "vbscript:", "data:text", "<iframe", "<svg"):
        assert running not in harmless.replace("&lt;", "\N{WHITE SQUARE}")
    assert sanitise_text(harmless, HTML) == harmless


@pytest.mark.parametrize("payload", PAYLOADS)
def test_markdown_shows_html_instead_of_obeying_it(payload: str) -> None:
    harmless = sanitise_text(payload, MARKDOWN)
    assert "<" not in harmless
    assert sanitise_text(harmless, MARKDOWN) == harmless


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("[x](javascript:alert(1))", "[x](unsafe:alert(1))"),
        ("[x]( JavaScript:alert(1))", "[x]( unsafe:alert(1))"),
        ("[x](<javascript:alert(1)>)", "[x](&lt;unsafe:alert(1)>)"),
        ("[x](java\\script:1)", "[x](unsafe:1)"),
        ("[x](javascript\\:1)", "[x](unsafe:1)"),
        ("[x](&#106;avascript:1)", "[x](&amp;#106;avascript:1)"),
        ("![x](data:image/svg+xml,a)", "![x](unsafe:image/svg+xml,a)"),
        ("[x]: vbscript:1", "[x]: unsafe:1"),
        ("[x](https://a.test/?a=1&b=2)", "[x](https://a.test/?a=1&amp;b=2)"),
        ("[x](mailto:a@b.test) [y](/path:1)", "[x](mailto:a@b.test) [y](/path:1)"),
        ("see [1]: note: this", "see [1]: note: this"),
        ("> quote, **bold**, `code`", "> quote, **bold**, `code`"),
    ],
)
def test_markdown_links_keep_known_schemes_alone(text: str, harmless: str) -> None:
    assert sanitise_text(text, MARKDOWN) == harmless


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("AT&T <3\r\n\tok", "AT&T <3\r\n\tok"),
        ("a\x00b\x1b[31mc\x85", "ab[31mc"),
        ("file\u202egnp.exe", "filegnp.exe"),
        ("\u200fעברית", "\u200fעברית"),
    ],
)
def test_plain_text_loses_only_what_cannot_be_seen(text: str, shown: str) -> None:
    assert sanitise_text(text, PLAIN) == shown


def test_only_declared_parameters_change_and_the_change_is_told() -> None:
    arguments = {"body": "<b>x</b><script>1</script>", "note": "<b>", "count": 3}
    page = schema(body={"type": "string", "x-taoloop-content": "html"}, note={"type": "string"})
    result = sanitise(page, arguments)  # type: ignore[arg-type]
    assert result.arguments == {"body": "<b>x</b>", "note": "<b>", "count": 3}
    assert result.changes == (Sanitised("/body", HTML),)
    assert arguments["body"] == "<b>x</b><script>1</script>"


def test_what_is_harmless_stays_the_same_object() -> None:
    arguments: dict[str, Any] = {"body": "<b>x</b>"}
    result = sanitise(schema(body={"x-taoloop-content": "html"}), arguments)
    assert result.arguments is arguments
    assert result.changes == ()


def test_a_text_of_which_nothing_is_left_is_marked() -> None:
    result = sanitise(schema(body={"x-taoloop-content": "html"}), {"body": "<script>1</script>"})
    assert result.changes == (Sanitised("/body", HTML, is_emptied=True),)


def test_the_declaration_is_found_wherever_the_schema_puts_it() -> None:
    html = {"type": "string", "x-taoloop-content": "html"}
    page = {
        "$defs": {"text": html, "loop": {"$ref": "#/$defs/loop"}},
        "properties": {
            "parts": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"$ref": "#/$defs/text"}},
            "either": {"anyOf": [{"type": "null"}, html]},
            "deep": {"properties": {"a/b": {"if": True, "then": html}}, "additionalProperties": html},
            "unknown": {"x-taoloop-content": "rtf"},
            "broken": {"$ref": "#/$defs/none"},
            "looped": {"$ref": "#/$defs/loop"},
        },
    }
    bad = "<script>1</script>x"
    given = {"parts": [bad, bad], "either": bad, "deep": {"a/b": bad, "other": bad}, "unknown": bad, "broken": bad}
    result = sanitise(page, {**given, "looped": bad})  # type: ignore[dict-item]
    assert [change.pointer for change in result.changes] == ["/parts/1", "/either", "/deep/a~1b", "/deep/other"]


def test_the_search_for_links_takes_linear_time() -> None:
    assert len(sanitise_text("](" * 20_000 + " " * 20_000, MARKDOWN)) == 60_000


def test_sanitiser_shows_the_tools_that_it_watches() -> None:
    shown = replace(
        CHANGE, parameters={"properties": {"body": {"anyOf": [{"type": "string", "x-taoloop-content": "html"}]}}}
    )
    tools = [CompiledTool.compile(tool) for tool in (shown, LOOK_UP)]
    assert repr(Sanitiser(tools)) == "Sanitiser(['change'])"
