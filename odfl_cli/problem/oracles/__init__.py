"""Approximate minimisers over Θ (Definition 1)."""
