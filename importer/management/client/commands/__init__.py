"""`millrace --server URL`: the words of the command line that work on another machine's Millrace."""
