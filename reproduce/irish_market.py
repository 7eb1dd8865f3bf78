"""Makes rounds of the half-hourly prices of the Irish market: `python reproduce/irish_market.py PRICES.csv`.

A day is a round and its 48 half-hours are the items. Only what is forecast in advance is a feature. The policy to beat
is `algo=forecast algo.column=SMPEA`; this replays the rounds:

    odfl run data=replay data.file=irish_market.csv data.columns.round=day data.columns.item=slot \\
      data.columns.cost=SMPEP2 data.on_missing=last data.standardise=true data.intercept=true algo=rls
"""

import sys

import pandas as pd

FEATURES = [
    "PeriodOfDay",
    "HolidayFlag",
    "DayOfWeek",
    "ForecastWindProduction",
    "SystemLoadEA",
    "SMPEA",
]

rows = pd.read_csv(sys.argv[1], na_values="?", low_memory=False)
rows["day"] = pd.to_datetime(rows[["Year", "Month", "Day"]]).dt.strftime("%Y-%m-%d")
rows = rows.drop_duplicates(["day", "PeriodOfDay"]).sort_values(["day", "PeriodOfDay"])
rows["slot"] = rows["PeriodOfDay"]
rows[["day", "slot", *FEATURES, "SMPEP2"]].to_csv("irish_market.csv", index=False)
