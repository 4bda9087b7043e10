import signal

# Until a study runs there is nothing to end cleanly: Ctrl-C ends the process at once, without a traceback.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from .cli.main import main

main()
