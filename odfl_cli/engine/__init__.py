"""How a block of rounds is executed."""
