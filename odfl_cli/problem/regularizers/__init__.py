"""Regularisers R(w), which smooth the inner linear program."""
