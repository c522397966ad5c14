"""The list of imports: its page, its filters, filters that people save, and actions on all imports that match."""
