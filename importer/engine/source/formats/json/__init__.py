"""JSON Lines and JSON arrays: objects as records. In reading order: values, text, declared."""
