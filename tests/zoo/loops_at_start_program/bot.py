"""Does not get as far as `hello`."""

EXPECTED = {"process": "init", "sandbox": "init"}

while True:
    pass
