"""Code points as TypeScript has them."""

import textwrap


def ranges(points):
    """"61-63 ff": hexadecimal ranges and single ones."""
    runs = []
    for point in points:
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return " ".join(f"{a:x}" if a == b else f"{a:x}-{b:x}" for a, b in runs)


def literal(points, indent="", width=110):
    """A string, as a template of several lines where it is long."""
    lines = textwrap.wrap(ranges(points), width, break_on_hyphens=False)
    if len(lines) == 1:
        return f'"{lines[0]}"'
    return "`\n" + "\n".join(f"{indent}  {line}" for line in lines) + f"\n{indent}`"
