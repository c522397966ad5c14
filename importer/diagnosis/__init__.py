"""Why an import waits or is slow: looks at its server while somebody watches, and tests the engine's causes.

facts: the import in plain values. watch: the looks at a server, shared by all who watch. why: the explanations.
"""
