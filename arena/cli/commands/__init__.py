"""The commands, one file per group: parse the command line, then call what prints."""
