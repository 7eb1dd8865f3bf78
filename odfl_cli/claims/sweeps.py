"""What is run for the claims, as arguments of `odfl run`."""

from odfl_cli.claims.evidence import Sweep

LEARNERS = "algo=df_ogd,df_ftpl,pf_ogd,spo,uniform,frozen"
HORIZONS = "horizon.rounds=100,300,1000,3000"
GAMMA = "experiment=misspecification metrics=basic data.gamma=0,0.75,1"
GAMMA_PLAYERS = "algo=df_ogd,pf_ogd,spo,uniform,frozen"
KAPPAS = "algo=df_ogd,df_ftpl metrics=regret horizon.rounds=1000"
SIZES = "metrics=regret horizon.rounds=2000 algo=df_ogd,df_ftpl,uniform,frozen"

READINGS = {
    "gamma": ("A = 1, R = 1, as printed", ""),
    "gamma_radius": ("A = 1, R = 10", "theta_radius=10 "),
    "gamma_45": ("A = 45, R = 1", "data.amplitude=45 "),
    "gamma_45_radius": ("A = 45, R = 10", "data.amplitude=45 theta_radius=10 "),
}
"""Settings of the experiment on γ; the costs of none are clipped."""

SWEEPS = {
    sweep.name: sweep
    for sweep in (
        Sweep("main", 100, f"experiment=main {LEARNERS}"),
        Sweep("high_dimension", 10, f"experiment=high_dimension {LEARNERS}"),
        Sweep("static", 30, f"experiment=main data.drift=none {LEARNERS}"),
        Sweep("static_high_dimension", 10, f"experiment=high_dimension data.drift=none {LEARNERS}"),
        *(
            Sweep(name, 50 if changed else 300, f"{GAMMA} {changed}{GAMMA_PLAYERS}")
            for name, (_, changed) in READINGS.items()
        ),
        Sweep("kappa", 10, f"experiment=main {KAPPAS} kappa=0,0.01,0.1,1"),
        Sweep(
            "kappa_polynomial",
            10,
            f"data=polynomial data.items=20 theta_radius=10 {KAPPAS} kappa=0,0.1,1",
        ),
        Sweep("rates", 10, f"experiment=rates algo=df_ogd,df_ftpl,uniform,frozen {HORIZONS}"),
        Sweep("parameters", 10, f"{SIZES} data.items=20 data.features=5,10,20,40"),
        Sweep("items", 5, f"{SIZES} data.items=5,20,80,320"),
        Sweep("oracle", 10, f"algo=df_ogd metrics=regret metrics.oracle=16 {HORIZONS}"),
        Sweep(
            "grid",
            30,
            "experiment=grid_pf_ogd algo.eta=0.001,0.01,0.1,1,10",
            "experiment=main metrics=basic algo=uniform,frozen",
        ),
    )
}
