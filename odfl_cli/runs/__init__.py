"""One job from its configuration to its files."""
