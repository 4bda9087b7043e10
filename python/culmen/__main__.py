import signal

# Until a study runs there is nothing to end cleanly: Ctrl-C ends the process at once, without a traceback.
signal.signal(signal.SIGINT, signal.SIG_DFL)

from .cli import main  # noqa: E402

main()
