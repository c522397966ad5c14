"""The hosts that workers run on: which are alive, and which get the work that not every host can do."""
