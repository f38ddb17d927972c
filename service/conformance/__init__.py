"""Conformance: golden vectors that any implementation can be tested with, and the runner that does it."""
