"""The command line: commands call the API and print the result."""
