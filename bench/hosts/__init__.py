"""Simulates many hosts in virtual time, with Millrace's own decisions and the application's own database."""
