"""Evaluates candidates of your choice: χ² of the fit of the pion's form factor for eight masses of the ρ."""

from pathlib import Path

import culmen

study = culmen.Study.from_file(Path(__file__).parent.parent / "01_pion_form_factor" / "pion_form_factor.toml")
best = {"m_rho": 0.77571, "gamma_rho": 0.1479, "delta": 1.641e-3, "phi": 0.1565, "beta": -0.1036, "m_rho2": 1.2}
masses = [0.774 + 0.0005 * k for k in range(8)]
with study.evaluations(workers=2) as evaluate:
    outcomes = evaluate([{**best, "gamma_rho2": 0.7, "m_rho": mass} for mass in masses])
for mass, outcome in zip(masses, outcomes, strict=True):
    print(f"{mass:.4f}", f"{outcome.value:.2f}" if outcome.ok else outcome.message)
