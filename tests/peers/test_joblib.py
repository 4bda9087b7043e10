"""joblib's own tests of its backends, on culmen's."""

import culmen

culmen.register_joblib()  # joblib's tests take the registered backends when they are imported

from joblib.test.test_parallel import *  # noqa: E402, F403
