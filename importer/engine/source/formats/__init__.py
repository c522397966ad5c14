"""Other formats than CSV: each is converted to a working copy in text, which everything else reads like a CSV file.

One file for each format declares it. In reading order: header_names, footer, contents, copy_records, format; the
formats; registry, options, choice.
"""
