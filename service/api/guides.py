"""The texts of ``docs/`` as pages: Markdown, rendered once a process.

The path of a page is that of its file without the ending, so links between the files lead from page to page.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.token import Token
from markupsafe import Markup

from service.files import shipped

GUIDES: Final = (
    "settle-a-round",
    "resume-a-round",
    "settle-a-batch",
    "verify",
    "seal-seeds",
    "rotate-keys",
    "rulesets",
    "errors",
)
"""Short guides with examples in curl, Python and JavaScript, in the order in which they are needed."""
BOOKS: Final = (
    "rulebook",
    "rulesets",
    "certificates",
    "fairness",
    "clients",
    "conformance",
    "audit",
    "operations",
    "versioning",
    "performance",
    "http",
    "compliance",
    "design",
)
"""The longer texts."""


class Text(NamedTuple):
    """A text ready to be shown: its title, its first sentence without markup, and all of it as HTML."""

    title: str
    lead: str
    html: Markup


@cache
def read_text(path: str) -> Text:
    """The text of ``docs/{path}.md``, such as ``guides/verify``."""
    tokens = _MARKDOWN.parse(shipped(f"docs/{path}.md").read_text(encoding="utf-8"))
    _name_headings(tokens)
    _lead_to_pages(tokens)
    title, paragraph = (_plain(tokens, kind) for kind in ("heading_open", "paragraph_open"))
    html = Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))  # noqa: S704  # files of the release
    return Text(title, re.sub(r"(?<=\.) .*", "", paragraph), html)


def _plain(tokens: Sequence[Token], kind: str) -> str:
    """The words of the first block of a kind."""
    opening = next(place for place, token in enumerate(tokens) if token.type == kind)
    children = tokens[opening + 1].children or []
    return "".join(" " if child.type == "softbreak" else child.content for child in children)


def _name_headings(tokens: Sequence[Token]) -> None:
    """Give each heading the id that code hosts give it."""
    for heading, words in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", re.sub(r"[^\w -]", "", words.content.lower()).replace(" ", "-"))


def _lead_to_pages(tokens: Sequence[Token]) -> None:
    """Let links to other texts lead to their pages."""
    for link in _links(tokens):
        target = str(link.attrs["href"])
        if ":" not in target:
            link.attrSet("href", re.sub(r"\.md(?=#|$)", "", target))


def _links(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield from (child for child in token.children or [] if child.type == "link_open")


def _only_anchors(self: Any, tokens: Sequence[Token], place: int, *_: Any) -> str:
    """Raw HTML is shown, not obeyed, but for the anchors of the rule book's clauses."""
    content = tokens[place].content
    return content if re.fullmatch(r'<a id="[a-z]\d+">|</a>', content) else escapeHtml(content)


_MARKDOWN: Final = MarkdownIt("commonmark").enable("table")
_MARKDOWN.add_render_rule("html_inline", _only_anchors)
_MARKDOWN.add_render_rule("html_block", _only_anchors)
