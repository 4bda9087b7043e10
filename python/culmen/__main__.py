import signal

# Before a study runs, Ctrl-C may end the process at once, without a traceback: nothing needs a clean end.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from .cli.main import main

main()
