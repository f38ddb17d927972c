"""From a seed to a deck: generator, shuffle and commitment (rule book, section 7)."""

SHUFFLE = "hmac-drbg-sha256/1"
"""Name of the shuffle. A corrected shuffle gets a new name; this one stays as it is."""
