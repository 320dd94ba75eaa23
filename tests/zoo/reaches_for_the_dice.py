"""Looks among the interpreter's objects for the referee's generator.

In a process of its own there is none. At `none` it runs in the worker's process, beside the referee: there it finds
the generator and with it every roll to come, so that bots that have not been read do not belong there.
"""

import gc
import inspect

from attempts import Attempting

EXPECTED = {"none": "plays on", "process": "plays on", "sandbox": "plays on"}
NOTES = {"none": "got: objects=["}


class ReachesForTheDice(Attempting):
    def attempts(self):
        yield "objects", self.objects
        yield "frames", self.frames

    def objects(self):
        """The collector's, and what hangs on them, by the names of their classes."""
        known = gc.get_objects()
        gc.unfreeze()
        found = {type(each).__name__ for each in [*known, *gc.get_objects()]}
        return sorted(found & {"Dice", "Streams", "Match", "Table", "LaunchedBot"}) or None

    def frames(self):
        found = {}
        for frame in [each.frame for each in inspect.stack()]:
            found |= {name: 1 for name, each in frame.f_locals.items() if type(each).__name__ in ("Match", "Streams")}
        return sorted(found) or None
