"""What single cards of an import's page show."""
