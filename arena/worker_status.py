"""The layout of the shared file in which a worker says where it is."""

import struct

STATUS = struct.Struct("<qqqd")
"""Number of the match in its chunk, seat at work (-1: none), ply, deadline in seconds of the monotonic clock (infinite for nobody)."""
