"""The words, numbers and documents of docs/contracts.md. Nothing here needs Django."""
