"""What the views of one app share: its rulesets, its keys, the state of its files."""

import logging
from collections.abc import Sequence
from typing import Final, NamedTuple, cast

from flask import Flask, current_app

from service import __version__
from service.api import verify
from service.api.problems import Problem
from service.integrity import FileCheck, Integrity
from service.keys import Keys, configured_keys
from service.observability import metrics
from service.registry import Registry, configured_rulesets


class Deployment(NamedTuple):
    """What one deployment has: its rulesets, its keys, the state of its files and the page made of them.

    ``verifier`` is the player's page with the policy that it is served with.
    """

    rulesets: Registry
    keys: Keys
    integrity: Integrity
    verifier: tuple[bytes, str]

    def require_integrity(self) -> None:
        """Raise ``Problem`` (503) where a file that decides outcomes is not that of the release."""
        if not self.integrity.intact:
            detail = "files that decide outcomes are not those of the release: see /v1/integrity"
            raise Problem("integrity-lost", detail)


def deploy(app: Flask) -> None:
    """Give an app what its environment configures. Raises ``MalformedRuleset`` and ``MalformedKeys``."""
    rulesets, keys = configured_rulesets(), configured_keys()
    if keys.development:
        _LOG.warning("a published development key is in use, which proves and hides nothing: set KEYS_FILE")
    documents = {id: published.document for id, published in rulesets.items()}
    app.extensions["deployment"] = Deployment(
        rulesets, keys, Integrity(_report), verify.page(documents, keys.jwks())
    )


def _report(altered: Sequence[FileCheck]) -> None:
    metrics.publish_altered_files(__version__, len(altered))
    for check in altered:
        _LOG.error("integrity lost: %s is not that of the release", check.file)


_LOG: Final = logging.getLogger("service.deployment")


def deployment(app: Flask = current_app) -> Deployment:
    """What an app has, by default the one that serves this request."""
    return cast(Deployment, app.extensions["deployment"])
