"""Canonical bytes and digests of documents."""
