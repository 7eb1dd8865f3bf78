"""g(θ, X): predicted costs from features."""
