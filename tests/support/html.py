"""Pages as data: where they lead, what is in them, and what a strict policy would forbid."""

from collections import Counter
from html.parser import HTMLParser

_OF_A_HEAD = ("title", "script", "style")
_INLINE = ("a", "b", "code", "em", "span", "strong")


class Page(HTMLParser):
    """One page."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.links: dict[str, str | None] = {}
        """Whatever it refers to, with the language that is said to be there."""
        self.ids: set[str] = set()
        self.language = ""
        self.tags: Counter[str] = Counter()
        self.inline: list[str] = []
        """Scripts and styles that stand in the page itself."""
        self.title = ""
        self._words: list[str] = []
        self._within = ""
        self.feed(source)

    @property
    def text(self) -> str:
        """The words in it, one space between them."""
        return " ".join("".join(self._words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags[tag] += 1
        self._within = tag
        self._words += [] if tag in _INLINE else [" "]
        for name in ("href", "src", "action"):
            if target := values.get(name):
                self.links[target] = values.get("hreflang")
        if id := values.get("id"):
            assert id not in self.ids, f"{id} stands twice"
            self.ids.add(id)
        if tag == "html":
            self.language = values.get("lang") or ""
        self.inline += [f"{tag} {name}" for name in values if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and not values.get("src")):
            self.inline.append(tag)

    def handle_data(self, data: str) -> None:
        if self._within == "title":
            self.title += data
        elif self._within not in _OF_A_HEAD:
            self._words.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in _OF_A_HEAD:
            self._within = ""
