"""Draws the vapour or the vorticity with the droplets, as a film: python render.py [vapour|vorticity] [PAGE.html]

It reads dns.json and the files that dns has written with --writes, in the current folder.
"""

import json
import sys
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

POINTS, DROPLETS = 24, 1500  # largest numbers that are drawn: points of each direction, droplets
KINDS = {"vapour": "Greys", "vorticity": "Magma"}
SIZES = [[0, "#d55e00"], [0.5, "#e69f00"], [1, "#0072b2"]]  # small droplets are red, large ones blue


def fields_of(number: int, n: int) -> np.ndarray:
    """u, v, w, q in the order [field][z][y][x]."""
    return np.fromfile(f"fields-{number:04d}.bin").reshape(n, 4, n, n).transpose(1, 0, 2, 3)


def vorticity(velocity: np.ndarray) -> np.ndarray:
    """Its magnitude, by derivatives in wave numbers."""
    n = velocity.shape[-1]
    kz, ky, kx = np.meshgrid(*[np.fft.fftfreq(n, 1 / n)] * 3, indexing="ij")
    u, v, w = np.fft.fftn(velocity, axes=(1, 2, 3))
    parts = (ky * w - kz * v, kz * u - kx * w, kx * v - ky * u)
    return np.sqrt(sum(np.fft.ifftn(1j * part).real ** 2 for part in parts))


def volume(kind: str, number: int, n: int) -> np.ndarray:
    """Every second point, or fewer, so that the page stays small."""
    fields = fields_of(number, n)
    whole = fields[3] if kind == "vapour" else vorticity(fields[:3])
    step = -(-n // POINTS)
    return whole[::step, ::step, ::step].astype("float32")


def traces(kind: str, values: np.ndarray, number: int, n: int, top: float, sizes: tuple[float, float]) -> list:
    step = 2 * np.pi / n * -(-n // POINTS)
    z, y, x = (step * index.ravel() for index in np.indices(values.shape))
    droplets = np.fromfile(f"droplets-{number:04d}.bin").reshape(-1, 4)
    droplets = droplets[:: max(1, len(droplets) // DROPLETS)]
    droplets = droplets[droplets[:, 3] > 0].astype("float32")  # the others have evaporated
    low, high = sizes
    cloud = go.Volume(x=x, y=y, z=z, value=values.ravel(), isomin=0.3 * top, isomax=top, opacity=0.15, surface_count=8)
    cloud.update(colorscale=KINDS[kind], colorbar={"title": kind, "x": -0.1}, caps={"x_show": False, "y_show": False})
    points = go.Scatter3d(x=droplets[:, 0], y=droplets[:, 1], z=droplets[:, 2], mode="markers", name="droplets")
    points.marker = {"size": 2.5, "color": droplets[:, 3], "colorscale": SIZES, "cmin": low, "cmax": high}
    points.marker.colorbar = {"title": "radius"}
    return [cloud, points]


def radii(numbers: range) -> tuple[float, float]:
    """The smallest and the largest one of all droplets that are left."""
    all_radii = np.concatenate([np.fromfile(f"droplets-{k:04d}.bin").reshape(-1, 4)[:, 3] for k in numbers])
    left = all_radii[all_radii > 0]
    return (float(left.min()), float(left.max())) if len(left) else (0.0, 1.0)


def draw(kind: str) -> go.Figure:
    about = json.loads(Path("dns.json").read_text())
    n, times = about["n"], about["times"]
    numbers = range(1, len(times) + 1)
    volumes = [volume(kind, k, n) for k in numbers]
    top, sizes = float(max(v.max() for v in volumes)), radii(numbers)
    frames = []
    for k in numbers:
        cloud, points = traces(kind, volumes[k - 1], k, n, top, sizes)
        if k == 1:
            figure = go.Figure(data=[cloud, points])
        moved = go.Scatter3d(x=points.x, y=points.y, z=points.z, marker={"color": points.marker.color})
        frames.append(go.Frame(data=[go.Volume(value=cloud.value), moved], name=f"{times[k - 1]:.3g}"))
    figure.frames = frames
    now = {"frame": {"duration": 500, "redraw": True}, "fromcurrent": True}
    steps = [{"label": f.name, "method": "animate", "args": [[f.name], {"mode": "immediate", **now}]} for f in frames]
    play = {"label": "Play", "method": "animate", "args": [None, now]}
    return figure.update_layout(
        title=f"{kind} and droplets, {n}³ points, Re = {about['reynolds']:g}",
        scene={axis: {"range": [0, 2 * np.pi]} for axis in ("xaxis", "yaxis", "zaxis")} | {"aspectmode": "cube"},
        sliders=[{"steps": steps, "currentvalue": {"prefix": "t = "}}],
        updatemenus=[
            {
                "type": "buttons",
                "buttons": [play],
                "x": 0,
                "y": 0,
                "xanchor": "right",
                "pad": {"t": 55, "r": 15},
                "yanchor": "top",
            }
        ],
        width=900,
        height=800,
    )


def main() -> None:
    kind, page = [*sys.argv[1:], *("vapour", "dns.html")[len(sys.argv) - 1 :]]
    if kind not in KINDS:
        raise SystemExit(f"{kind} must be one of {', '.join(KINDS)}")
    if not Path("dns.json").exists():
        raise SystemExit("there is no dns.json; run dns with --writes first")
    draw(kind).write_html(page, auto_play=False)  # the page contains plotly.js and needs no network
    print(f"written: {page}")


if __name__ == "__main__":
    main()
