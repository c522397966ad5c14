"""The soak: one person does everything at once that others could feel, while another person works."""
