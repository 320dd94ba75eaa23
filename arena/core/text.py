"""Texts for people: bounds in words, and texts of strangers cleaned before they are kept or shown."""


def without_controls(text: str) -> str:
    """Return the text with spaces for what would steer a terminal or cannot be stored; line ends stay."""
    return "".join([letter if letter.isprintable() or letter == "\n" else " " for letter in text])


def describe_bounds(kind: str, low: float | None, high: float | None) -> str:
    """Return a kind of number with its inclusive bounds in words."""
    if low is not None and high is not None:
        return f"{kind} from {low:,} to {high:,}"
    return (
        kind
        if low is None and high is None
        else f"{kind}, {f'{low:,} or more' if high is None else f'at most {high:,}'}"
    )
