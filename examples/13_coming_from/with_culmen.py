from chi2 import chi2

import culmen

found = culmen.minimize(
    lambda p: chi2(p["amplitude"], p["rate"], p["background"]),
    {
        "amplitude": (0, 1000),
        "rate": culmen.real(1e-3, 1, scale="log"),
        "background": (0, 100),
    },
    budget=1500,
    seed=1,
)
print(found.value, found.best)
