"""The words of the fields of forms, which messages name, too."""
