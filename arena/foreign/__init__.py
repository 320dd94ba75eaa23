"""Results of matches that were played elsewhere: read from tables, and written as logs without moves."""
