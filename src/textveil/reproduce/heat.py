"""A heat map of small whole numbers, as a panel of a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

# From white to dark blue, told apart in grey as well.
SHADES = ("#ffffff", "#d6e4f2", "#a6c8e4", "#6ba3d0", "#3a78b0", "#0b3c6f")


@dataclass(frozen=True)
class HeatMap:
    """Rows from top to bottom; values from 0 to the last shade, larger ones are drawn as that."""

    title: str
    x_label: str
    y_label: str
    rows: Sequence[Sequence[int]]
    series: tuple[()] = ()  # no curve, so nothing for the legend

    def drawn(self, width: int, height: int) -> str:
        """The panel as SVG elements, within a box of this size.

        >>> HeatMap("t", "x", "y", [[0, 9]]).drawn(100, 100).count("<path")
        1
        """
        left, top, right, bottom = 34, 30, width - 14, height - 40
        wide, high = (right - left) / len(self.rows[0]), (bottom - top) / len(self.rows)
        cells: dict[int, list[str]] = {}
        for i, row in enumerate(self.rows):
            for j, value in enumerate(row):
                if value > 0:
                    place = f"M{left + j * wide:.2f} {top + i * high:.2f}h{wide:.2f}v{high:.2f}h-{wide:.2f}z"
                    cells.setdefault(min(value, len(SHADES) - 1), []).append(place)
        shaded = "".join(f'<path d="{"".join(p)}" fill="{SHADES[v]}"/>' for v, p in sorted(cells.items()))
        frame = f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" fill="none" stroke="#444"/>'
        middle, centre = (left + right) / 2, (top + bottom) / 2
        return (
            f'<text x="{left}" y="20" font-weight="600">{escape(self.title)}</text>{shaded}{frame}'
            f'<text x="{middle}" y="{bottom + 18}" text-anchor="middle">{escape(self.x_label)}</text>'
            f'<text transform="translate(20 {centre}) rotate(-90)" text-anchor="middle">{escape(self.y_label)}</text>'
        )
