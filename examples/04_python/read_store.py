"""Runs a small study, then reads its store into arrays."""

import culmen

culmen.minimize(
    lambda p: (p["x"] - 1) ** 2 + (p["y"] + 2) ** 2, {"x": (-5, 5), "y": (-5, 5)}, budget=300, store="read_store.db"
)
if culmen.is_master():
    evaluations = culmen.read("read_store.db")
    columns = evaluations.columns
    near = columns["value"] < 1e-3
    print(f"{len(evaluations)} evaluations, {near.sum()} of them with a value below 0.001")
    print(f"x there: {columns['x'][near].min():.3f} to {columns['x'][near].max():.3f}")
    evaluations.plot().write_html("read_store.html")
