"""Every empirical claim of the paper and every testable statement, measured."""
