"""What every room uses and what knows none of them."""
