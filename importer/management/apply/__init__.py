"""`millrace apply`: makes targets, connections, channels, presets and schedules what a file says (docs/apply.md).

yaml_file.py reads the file with the place of each value. kinds/ has a file for each kind of thing: which keys it has,
and how it is read and saved, by the functions that its own command uses. difference.py compares, carry_out.py makes the
changes, export.py writes what is there as such a file.
"""
