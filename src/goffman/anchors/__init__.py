"""Data from people, and models compared with them."""
