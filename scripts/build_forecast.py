"""Make the table that forecasts use, of the results of `textveil reproduce use` (docs/results/use/results.json).

    python scripts/build_forecast.py

Only the collections of LEARNT_FROM are read; complaints and IMDb reviews are left for the test of the table. The law
(recipes/use/forecast.py) is fitted so that the accuracies that it foresees are as near as can be to those that were
measured, each collection counting the same.
"""

from __future__ import annotations

import json
from pathlib import Path

from textveil.reproduce.use.law import fit_table

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results" / "use" / "results.json"
TABLE = ROOT / "src" / "textveil" / "recipes" / "use" / "forecast.json"


def main() -> None:
    cells = json.loads(RESULTS.read_text(encoding="utf-8"))["cells"]
    TABLE.write_text(json.dumps(fit_table(cells), indent=1) + "\n", encoding="utf-8")
    print(f"written: {TABLE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
