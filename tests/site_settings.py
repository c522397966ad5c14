"""The product's settings with passwords that cost little to check: for the web servers of tests alone.

TEST_PASSWORD_HASHER names another hasher than the quick one.
"""

import os

from config.settings import *

PASSWORD_HASHERS = [os.environ.get("TEST_PASSWORD_HASHER", "tests.hashing.QuickHasher")]
