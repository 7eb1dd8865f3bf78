"""What of a round's costs an algorithm sees, and when."""
