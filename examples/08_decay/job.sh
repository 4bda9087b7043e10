#!/bin/sh
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=101
#SBATCH --time=01:00:00
culmen launch -n 404 run wide.toml
