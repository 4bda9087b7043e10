"""The work of each command. A module is loaded when its command runs, so that help and completion are quick."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        autotune,
        check,
        collectives,
        compare,
        convert,
        errors,
        export,
        images,
        init,
        install,
        iobuf,
        launch,
        lint,
        model,
        optimizers,
        pingpong,
        profile,
        report,
        rescue,
        run,
        schema,
        simulate,
        status,
        submit,
        suites,
        transport,
        tune_app,
        tune_cluster,
        tune_command,
        tune_direct,
        tune_hpl,
        tune_io,
        tune_placement,
        tune_submit,
        worker,
    )

__all__ = [
    "autotune",
    "check",
    "collectives",
    "compare",
    "convert",
    "errors",
    "export",
    "images",
    "init",
    "install",
    "iobuf",
    "launch",
    "lint",
    "model",
    "optimizers",
    "pingpong",
    "profile",
    "report",
    "rescue",
    "run",
    "schema",
    "simulate",
    "status",
    "submit",
    "suites",
    "transport",
    "tune_app",
    "tune_cluster",
    "tune_command",
    "tune_direct",
    "tune_hpl",
    "tune_io",
    "tune_placement",
    "tune_submit",
    "worker",
]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{name}", __name__)
