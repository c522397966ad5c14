"""Preflight checks of a server and an account before the first import (check.py), one module for each subject."""
