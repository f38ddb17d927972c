"""The page that recomputes a round in the player's browser: one file, which loads nothing and sends nothing.

Its sources lie beside this module. The scripts are ES modules, so that Node can test them one by one; the
page holds them in one script. They follow each other in an order in which no file needs a later one, and no
name is given twice, so leaving out their imports is all that there is to build.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson

_SOURCES: Final = Path(__file__).parent
_SCRIPTS: Final = (
    *("values", "crypto", "hands", "rules", "round", "outcome", "verdict"),  # compute, without a page
    *("words", "table", "page"),  # show it
)
_IMPORT: Final = re.compile(r"^import [^;]*;\n+", re.MULTILINE)
_PLACEHOLDER: Final = re.compile(r"/\*CSS\*/|/\*JS\*/|\{\{CSP\}\}|\{\{DATA\}\}")


def page(rulesets: Mapping[str, Any], jwks: Mapping[str, Any]) -> tuple[bytes, str]:
    """The page with these ruleset documents (by id) and public keys, and the policy that it is served with.

    The policy stands in the page too, so that a saved copy is as closed as a served one.
    """
    css, script = _source("page.css"), "\n".join(_IMPORT.sub("", _source(f"{name}.js")) for name in _SCRIPTS)
    data = orjson.dumps({"rulesets": dict(rulesets), "jwks": dict(jwks), "texts": texts()}).decode()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(css)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "/*CSS*/": css,
        "/*JS*/": script,
        "{{CSP}}": policy,
        "{{DATA}}": data.replace("<", "\\u003c"),  # no text in a ruleset can end the data block
    }
    return _PLACEHOLDER.sub(lambda match: parts[match[0]], _source("page.html")).encode(), policy


def texts() -> Any:
    """What the page shows, by language."""
    return orjson.loads(_source("texts.json"))


def _source(name: str) -> str:
    return (_SOURCES / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
