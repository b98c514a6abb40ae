"""Writes sets of code points as strings."""


def ranges(points):
    """Returns code points as hexadecimal ranges and single values, such as "61-63 ff"."""
    runs = []
    for point in points:
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return " ".join(f"{a:x}" if a == b else f"{a:x}-{b:x}" for a, b in runs)
