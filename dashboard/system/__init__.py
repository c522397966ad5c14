"""How the installation is: its health for programs, its state for people, and the pages Workers and Storage."""
