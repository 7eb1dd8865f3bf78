"""Shared utilities; imports no other subpackage."""
