"""Writes sets of code points as TypeScript strings."""

import textwrap


def ranges(points):
    """Returns code points as hexadecimal ranges and single values, such as "61-63 ff"."""
    runs = []
    for point in points:
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return " ".join(f"{a:x}" if a == b else f"{a:x}-{b:x}" for a, b in runs)


def literal(points, indent="", width=110):
    """Returns the ranges as a TypeScript string; as a template with several lines if it is long."""
    lines = textwrap.wrap(ranges(points), width, break_on_hyphens=False)
    if len(lines) == 1:
        return f'"{lines[0]}"'
    return "`\n" + "\n".join(f"{indent}  {line}" for line in lines) + f"\n{indent}`"
