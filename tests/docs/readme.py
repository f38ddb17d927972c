"""The examples in README.md as the service answers today: ``python -m tests.docs.readme`` writes them in."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

from service.api import create_app

README = Path(__file__).parents[2] / "README.md"
_CURL_AND_ANSWER = re.compile(
    r"(?P<curl>curl [^`]*?)(?P<between>```.*?```json\n)(?P<answer>.*?)```", re.DOTALL
)


def examples() -> list[tuple[str, str]]:
    """Each curl command of the README with the JSON that stands below it."""
    return [(m["curl"], m["answer"]) for m in _CURL_AND_ANSWER.finditer(README.read_text(encoding="utf-8"))]


def answer(curl: str) -> Any:
    """What the service answers to a curl command, its certificate cut short."""
    words = shlex.split(curl.replace("\\\n", " "))
    body = words[words.index("--json") + 1]
    path = next(word for word in words if word.startswith("http://")).split("8080", 1)[1]
    document: Any = create_app().test_client().post(path, data=body, content_type="application/json").json
    return {**document, "certificate": document["certificate"][:60] + "…"}


def pretty(value: Any, indent: str = "") -> str:
    """JSON to be read: whatever fits on a line stands on one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= 118 or not isinstance(value, dict | list):
        return line
    deeper = indent + "  "
    if isinstance(value, dict):
        items = [f"{json.dumps(name)}: {pretty(inner, deeper)}" for name, inner in value.items()]
        opening, closing = "{}"
    else:
        items = [pretty(inner, deeper) for inner in value]
        opening, closing = "[]"
        if all(isinstance(inner, str) for inner in value):
            rows = [", ".join(items[row : row + 18]) for row in range(0, len(items), 18)]
            items = rows
    return opening + "\n" + ",\n".join(deeper + item for item in items) + "\n" + indent + closing


def main() -> None:
    """Write today's answers into the README."""
    text = README.read_text(encoding="utf-8")
    written = _CURL_AND_ANSWER.sub(
        lambda m: f"{m['curl']}{m['between']}{pretty(answer(m['curl']))}\n```", text
    )
    README.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
