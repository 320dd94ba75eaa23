"""Import, export and merge matches."""
