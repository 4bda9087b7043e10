"""A steel beam that is supported at its ends.

It is 2 m long. At its middle act two forces: 600 kN vertically and 50 kN horizontally.
"""


def figures(p):
    height, width, web, flange = p["height"], p["width"], p["web"], p["flange"]
    inner = height - 2 * flange
    moment = web * inner**3 + 2 * width * flange * (4 * flange**2 + 3 * height * inner)  # 12 * second moment of area
    return {
        "area": 2 * width * flange + web * inner,
        "deflection": 60000 / moment,
        "stress": 180000 * height / moment + 15000 * width / (inner * web**3 + 2 * flange * width**3),
    }
