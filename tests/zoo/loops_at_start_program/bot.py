"""Does not get as far as `hello`."""

EXPECTED = {"sandbox": "init"}

while True:
    pass
