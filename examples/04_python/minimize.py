import culmen

result = culmen.minimize(
    lambda p: (p["x"] - 1) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2,
    {"x": (-5, 5), "y": (-5, 5)},
    budget=3000,
    workers=4,
)
if culmen.is_master():
    print(result)
