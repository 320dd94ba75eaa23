"""Clean text of strangers before it is kept or shown."""


def without_controls(text: str) -> str:
    """Return the text with spaces for what would steer a terminal or cannot be stored; line ends stay."""
    return "".join([letter if letter.isprintable() or letter == "\n" else " " for letter in text])
