"""What is run for the claims, as arguments of `odfl run`."""

from odfl_cli.claims.evidence import Sweep

LEARNERS = "algo=df_ogd,df_ftpl,pf_ogd,spo,uniform,frozen"
GAMMA = ("experiment=misspecification", "metrics=basic", "data.gamma=0,0.75,1")
GAMMA_PLAYERS = "algo=df_ogd,pf_ogd,spo,uniform,frozen"
KAPPAS = ("algo=df_ogd,df_ftpl", "metrics=regret", "horizon.rounds=1000")
POLYNOMIAL = ("data=polynomial", "data.items=20", "theta_radius=10")
SIZES = ("metrics=regret", "horizon.rounds=2000", "algo=df_ogd,df_ftpl,uniform,frozen")

READINGS = {
    "gamma": ("A = 1, R = 1, as printed", ()),
    "gamma_radius": ("A = 1, R = 10", ("theta_radius=10",)),
    "gamma_45": ("A = 45, R = 1", ("data.amplitude=45",)),
    "gamma_45_radius": ("A = 45, R = 10", ("data.amplitude=45", "theta_radius=10")),
}
"""Settings of the experiment on γ; the costs of none are clipped."""

SWEEPS = {
    sweep.name: sweep
    for sweep in (
        Sweep("main", (("experiment=main", LEARNERS),), 100),
        Sweep("high_dimension", (("experiment=high_dimension", LEARNERS),), 10),
        Sweep("static", (("experiment=main", "data.drift=none", LEARNERS),), 30),
        Sweep(
            "static_high_dimension",
            (("experiment=high_dimension", "data.drift=none", LEARNERS),),
            10,
        ),
        *(
            Sweep(name, ((*GAMMA, *changed, GAMMA_PLAYERS),), 50 if changed else 300)
            for name, (_, changed) in READINGS.items()
        ),
        Sweep("kappa", (("experiment=main", *KAPPAS, "kappa=0,0.01,0.1,1"),), 10),
        Sweep("kappa_polynomial", ((*POLYNOMIAL, *KAPPAS, "kappa=0,0.1,1"),), 10),
        Sweep(
            "rates",
            (
                (
                    "experiment=rates",
                    "algo=df_ogd,df_ftpl,uniform,frozen",
                    "horizon.rounds=100,300,1000,3000",
                ),
            ),
            10,
        ),
        Sweep("parameters", ((*SIZES, "data.items=20", "data.features=5,10,20,40"),), 10),
        Sweep("items", ((*SIZES, "data.items=5,20,80,320"),), 5),
        Sweep(
            "oracle",
            (
                (
                    "algo=df_ogd",
                    "metrics=regret",
                    "metrics.oracle=16",
                    "horizon.rounds=100,300,1000,3000",
                ),
            ),
            10,
        ),
        Sweep(
            "grid",
            (
                ("experiment=grid_pf_ogd", "algo.eta=0.001,0.01,0.1,1,10"),
                ("experiment=main", "metrics=basic", "algo=uniform,frozen"),
            ),
            30,
        ),
    )
}
