"""What a user did wrong, in one line."""


class UserError(Exception):
    """A mistake in the input: shown as one line, exit code 2, no traceback."""
