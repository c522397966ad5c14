"""What is in a file before anything is loaded: encoding, packing, dialect, header, types of its columns.

In reading order: encodings, packed, plain; kinds, sniff, sample, profile, types.
"""
