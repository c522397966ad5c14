"""One run of a schedule: from discovering files to completion."""
