import signal

# Before a study runs nothing needs a clean end: Ctrl-C ends the process at once, without a traceback.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from .cli.main import main

main()
