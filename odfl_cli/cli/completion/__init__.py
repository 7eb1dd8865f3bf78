"""Completion in bash and zsh: a script for the shell, and the answers it asks for."""
