"""R(w): what smooths the inner linear program."""
