"""The plan: what a module does with memory, as a table for people."""
