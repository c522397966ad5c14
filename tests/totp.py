"""Codes as an authenticator app shows them (RFC 6238), computed without the code under test."""

import base64
import hashlib
import hmac
import struct
import time

PERIOD = 30


def code(secret: str) -> str:
    """The six digits for a secret in base 32, now."""
    counter = struct.pack(">Q", int(time.time()) // PERIOD)
    digest = hmac.new(base64.b32decode(secret, casefold=True), counter, hashlib.sha1).digest()
    offset = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[offset : offset + 4])[0] & 0x7FFFFFFF) % 10**6:06}"
