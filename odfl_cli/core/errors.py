"""What a user did wrong, in one line."""


class UserError(Exception):
    """A mistake in the input: shown as one line, exit code 2, no traceback."""


class RowError(UserError):
    """One row of a batch of decisions could not be computed; the row tells whose it was."""

    def __init__(self, row: int, rows: int, message: str) -> None:
        super().__init__(message)
        self.row, self.rows = row, rows


class RoundError(UserError):
    """A round of a block could not be played; counts from 0 within the block."""

    def __init__(self, round_index: int, seed_index: int, message: str) -> None:
        super().__init__(message)
        self.round_index, self.seed_index = round_index, seed_index
