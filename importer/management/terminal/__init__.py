"""What the command and the client of the API read and write: words, options, documents, text, progress.

In reading order: words, parsers, near_words, option_files, by_url, output, new_file; follow/, one_document;
report_text.
"""
