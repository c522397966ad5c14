"""The five published measurements, one file each; registry.py lists them."""
