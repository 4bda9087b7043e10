"""Without arguments, this script runs a study and waits for workers.

With the address and the fingerprint of a run, the script evaluates for this run.
"""

import sys

import culmen


def misfit(p: dict[str, float]) -> float:
    return (p["x"] - 1) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2


space = {"x": (-5, 5), "y": (-5, 5)}
if len(sys.argv) > 1:
    address, fingerprint = sys.argv[1:]
    done = culmen.work(address, misfit, space, token_file="token.txt", fingerprint=fingerprint)
    print(done, "evaluations were done here")
else:
    print(culmen.minimize(misfit, space, budget=3000, listen="wss://127.0.0.1:7443", token_file="token.txt"))
