"""Pages of targets: the list, and a page to edit and check one."""
