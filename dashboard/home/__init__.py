"""The page Home: what runs, what needs a person, what is due next, and whether disks and workers are well."""
