"""What people and programs do with an import: create, pause, resume, cancel, retry, import again, correct rows.

obstacles: ways out if the target cannot be put back.
"""
