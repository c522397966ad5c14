"""What the history page shows. In the order to read: `address`, what a URL asks for; `table`; `drawings`; `offers`."""
