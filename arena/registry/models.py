"""The ready-made bot `onnx:file=MODEL`: a bundle of the model and a module of ours that plays by it.

Specs in plans and logs have a digest of the model in place of the file's name, so that what a tournament plays follows
from the content of files and not from where they lie. Labels have the name.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from arena.core.paths import ROOT
from arena.registry.bundles import Bundle, SourceFolder, bundle_module
from engine.specs import Parameter

ONNX_BOT, MODEL_OPTION = "onnx", "file"
"""The bot, and its option that names a file."""
ONNX_MODULE = "bots.onnx_bot"
"""The module of its class, which refuses every game as long as there is no model."""
BUNDLE_MODULE, BUNDLE_CLASS = "onnx_model", "OnnxModel"
MODEL_FILE = "model.onnx"
"""Name of every model in its bundle."""
BUNDLE_SOURCE = f'''"""The bot of one model."""

from pathlib import Path

from bots.onnx_bot import Onnx


class {BUNDLE_CLASS}(Onnx):
    model = Path(__file__).with_name("{MODEL_FILE}")
'''


def read_model(path: Path) -> bytes:
    """Return the content of a model; raises an `ArenaError` for a file that cannot be read, named or bundled."""
    Parameter(MODEL_OPTION, str, "").read(path.name, ONNX_BOT)
    return SourceFolder(path.parent).take(path.name, {})


def digest(model: bytes) -> str:
    """Return 16 hexadecimal digits that stand for a model in specs."""
    return hashlib.blake2b(model, digest_size=8).hexdigest()


def bundle_model(model: bytes) -> Bundle:
    """Return the bundle of a model."""
    return Bundle(
        BUNDLE_MODULE,
        {**bundle_module(ROOT, ONNX_MODULE).files, f"{BUNDLE_MODULE}.py": BUNDLE_SOURCE.encode(), MODEL_FILE: model},
    )
