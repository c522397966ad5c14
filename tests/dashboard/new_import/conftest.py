"""The pages of a new import are the same for both kinds of server."""

from tests.targets import on_mariadb

database = on_mariadb
