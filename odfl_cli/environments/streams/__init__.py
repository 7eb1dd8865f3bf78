"""Long real streams inside installed Python packages: `data.file=package:NAME`.

A source reads the package's files by path, without importing the package, and yields rounds whose
features were known before the decision. Groups are the seeds: those of the later period first, then
the same of the early period, on which constants are chosen.
"""

from odfl_cli.environments.streams import emissions, flights, prices
from odfl_cli.environments.streams.source import Source

SOURCES: dict[str, Source] = {
    "prices": prices.SOURCE,
    "emissions": emissions.SOURCE,
    "flights_airport": flights.AIRPORTS,
    "flights_carrier": flights.CARRIERS,
}

__all__ = ["SOURCES", "Source"]
