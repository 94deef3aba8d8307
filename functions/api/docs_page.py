"""The OpenAPI document as a page to read: no script, no style and no byte from elsewhere."""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

_STYLE: Final = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; }
code, pre { font: 0.9em ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.75rem; border-radius: 0.4rem; background: #8882; }
nav ul { columns: 2; padding: 0; list-style: none; }
article { border-top: 1px solid #8886; }
summary { cursor: pointer; }
table { border-collapse: collapse; }
td, th { padding: 0.2rem 1rem 0.2rem 0; text-align: left; vertical-align: top; }
"""
_DIGEST: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none';"
    f" frame-ancestors 'none'; style-src 'sha256-{_DIGEST}'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""What keeps the page from loading, sending or being framed by anything."""


def page(document: Mapping[str, Any]) -> str:
    """The page of an OpenAPI document of ours."""
    info = document["info"]
    operations = [
        (f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{escape(info['title'])} API</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(info['title'])} API</h1><p>{_marked(info['description'])}</p>",
        "<p>As data: <a href='/api/openapi.json'>/api/openapi.json</a></p><nav><ul>",
        *(_link(name, operation) for name, operation in operations),
        "</ul></nav><main>",
        *(part for name, operation in operations for part in _article(name, operation)),
        "<h2>Bodies</h2>",
        *(_schema(name, schema) for name, schema in document["components"]["schemas"].items()),
        "</main></body></html>",
    ]
    return "\n".join(parts)


def _link(name: str, operation: Mapping[str, Any]) -> str:
    target = escape(operation["operationId"], quote=True)
    return f"<li><a href='#{target}'><code>{escape(name)}</code></a></li>"


def _article(name: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"<article id='{escape(operation['operationId'], quote=True)}'>"
    yield f"<h2><code>{escape(name)}</code></h2><p>{_marked(operation['description'])}</p>"
    if operation["parameters"]:
        yield "<table><tr><th>Parameter</th><th>In</th><th></th></tr>"
        for parameter in operation["parameters"]:
            cells = (parameter["name"], parameter["in"], parameter["description"])
            yield "<tr>" + "".join(f"<td>{_marked(cell)}</td>" for cell in cells) + "</tr>"
        yield "</table>"
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield _body(f"Request body, {kind}", content)
    yield "<h3>Answers</h3>"
    for status, response in operation["responses"].items():
        yield f"<p><strong>{escape(status)}</strong> {_marked(response['description'])}</p>"
        for kind, content in response.get("content", {}).items():
            yield _body(kind, content)
    yield "</article>"


def _body(title: str, content: Mapping[str, Any]) -> str:
    shown = [content["example"]] if "example" in content else []
    shown += [example["value"] for example in content.get("examples", {}).values()]
    blocks = "".join(f"<pre>{_json(example)}</pre>" for example in shown)
    named = content["schema"].get("$ref", "").rpartition("/")[2]
    link = f" <a href='#schema-{escape(named, quote=True)}'>{escape(named)}</a>" if named else ""
    return f"<details><summary>{escape(title)}</summary><p>{link}</p>{blocks}</details>"


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    anchor = escape(name, quote=True)
    return (
        f"<details id='schema-{anchor}'><summary>{escape(name)}</summary>"
        f"<pre>{_json(schema)}</pre></details>"
    )


def _json(value: Any) -> str:
    return escape(json.dumps(value, indent=2, ensure_ascii=False))


def _marked(text: str) -> str:
    """Escaped text in which what stands between backticks is code."""
    pieces = escape(text).split("`")
    return "".join(
        f"<code>{piece}</code>" if position % 2 else piece for position, piece in enumerate(pieces)
    )
