"""Never gets as far as having a function."""

import time

time.sleep(3600)
