#!/bin/sh
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=101
#SBATCH --time=01:00:00
folder=$(mktemp -d) # on the first node, where the master runs
if [ -e wide.db ]; then # an earlier job has begun the study
  cp wide.db "$folder/wide.db"
  culmen launch -n 404 resume "$folder/wide.db" --wall-time 3300
else
  culmen launch -n 404 run wide.toml --store "$folder/wide.db" --wall-time 3300
fi
culmen export "$folder/wide.db" --store -o "$folder/copy.db" && cp "$folder/copy.db" wide.db && rm -r "$folder"
