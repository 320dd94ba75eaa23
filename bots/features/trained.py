"""The weights that come with these features, which bots take along that import this module."""

BUNDLE_FILES = ["weights/*.npy"]
FOLDER = "weights"
