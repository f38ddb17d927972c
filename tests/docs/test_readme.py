"""The README tells the truth: its request is sent, its answer compared."""

import json
import re

from tests.docs.readme import README, answer, examples


def test_every_example_is_what_the_service_answers() -> None:
    found = examples()
    assert found
    for curl, text in found:
        shown, today = json.loads(text), answer(curl)
        # The engine's digest changes with every line of code; what it computes must not.
        assert shown["engine"].pop("digest")[:7] == today["engine"].pop("digest")[:7] == "sha256:"
        assert shown == today, "python -m tests.docs.readme writes today's answers"


def test_links_lead_to_files_of_the_repository() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert target.startswith("http://127.0.0.1") or (README.parent / target).exists(), target
