"""The version of the client: that of the Millrace that it comes from."""

VERSION = "0.1.0"
