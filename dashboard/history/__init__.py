"""The history page. To read in this order: `url_state` (the view in the URL), `table`, `charts`, `choices`."""
