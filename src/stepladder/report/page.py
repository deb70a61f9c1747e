"""One self-contained page from plain data: no network, works from disk.

A page is a list of sections in the order they are shown:

    table    rows that can be sorted by any column
    chart    panels of a `Chart`, with the files that hold it and the command that makes it again
    samples  texts with a verdict; whatever they hold is shown as text
    text     words as they are, such as a config

The plotting library (plotly.js) is embedded compressed and unpacked by the browser, which keeps the page
well under its uncompressed size.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from plotly.offline import get_plotlyjs

from stepladder.report.chart import Chart
from stepladder.report.style import COLOURS, GREY, PALETTE, VERMILION

Section = dict[str, Any]
Column = dict[str, str]


def table(
    name: str,
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]],
    intro: str = "",
    again: str = "",
) -> Section:
    """Return a table; a column has a key, a title, and perhaps a kind that the style sheet knows."""
    return {
        "kind": "table",
        "name": name,
        "title": title,
        "intro": intro,
        "columns": list(columns),
        "rows": list(rows),
        "again": again,
    }


def chart(one: Chart, again: str = "", links: Mapping[str, str] | None = None) -> Section:
    """Return a chart with links to its files."""
    return {"kind": "chart", **one.to_json(), "again": again, "links": dict(links or {})}


def facts(name: str, title: str, known: Mapping[str, Any]) -> Section:
    """Return a table of names and values."""
    columns = ({"key": "name", "title": "what"}, {"key": "value", "title": "value"})
    return table(name, title, columns, [{"name": key, "value": value} for key, value in known.items()])


def samples(name: str, title: str, intro: str, rows: Sequence[Mapping[str, Any]]) -> Section:
    """Return texts; a row has a title, whether it is correct, why not, and the text."""
    return {"kind": "samples", "name": name, "title": title, "intro": intro, "rows": list(rows)}


def text(name: str, title: str, words: str) -> Section:
    """Return words as they are."""
    return {"kind": "text", "name": name, "title": title, "text": words}


def render_page(title: str, heading: str, lead: str, summary: str, sections: Sequence[Section]) -> str:
    """Return the page."""
    data = {
        "summary": summary,
        "colours": {"methods": COLOURS, "palette": PALETTE, "bound": GREY, "chain": VERMILION},
        "sections": list(sections),
    }
    packed = base64.b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode()
    parts = {
        "TITLE": html.escape(title),
        "HEADING": html.escape(heading),
        "LEAD": html.escape(lead),
        "CSS": _asset("page.css"),
        # No tag and no comment may begin inside the script element that holds the data.
        "DATA": json.dumps(data, allow_nan=False).replace("<", "\\u003c"),
        "PLOTLY": packed,
        "JS": _asset("page.js"),
    }
    # In one pass: data that happens to spell a placeholder stays as it is.
    names = "|".join(parts)
    return re.sub(rf"/\*({names})\*/", lambda found: parts[found[1]], _asset("page.html"))


def _asset(name: str) -> str:
    return files("stepladder.report").joinpath(name).read_text(encoding="utf-8")
