"""How many passwords and codes were tried, for the limit on guessing (dashboard/sign_in/guesses.py)."""

from django.db import models


class GuessCount(models.Model):
    """The tries that count against one limit, such as those from one address, since `began`."""

    key = models.CharField(max_length=64, primary_key=True)
    tries = models.PositiveIntegerField(default=0)
    began = models.DateTimeField()
    touched = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.tries} since {self.began:%F %T}"
