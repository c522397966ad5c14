"""The five published measurements, one file each."""
