#!/bin/sh
# Prints the sum of squared residuals of y = b1 (1 - exp(-b2 x)). b1 and b2 are environment variables.
exec awk '
  !/^#/ { d = $1 - ENVIRON["b1"] * (1 - exp(-ENVIRON["b2"] * $2)); sum += d * d; points++ }
  END { print "points = " points; printf "%.17g\n", sum }
' "$(dirname "$0")/misra1a.txt"
