"""The paper's bounds, margins, assumptions and oracle errors on data; no algorithm needs them."""
