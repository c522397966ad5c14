"""The descriptions of uploads, whose operations are views of their own (dashboard/new_import/uploading/)."""
