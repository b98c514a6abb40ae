import { table } from "#sdk/cli/output.ts";
import type { Bounds, Shares } from "./figures.ts";
import { budgets } from "./workload.ts";

const share = (percent: number): string => percent.toFixed(2);

/** Formats the shares of policies, with the bound in the first row. */
export function describeShares(bounds: Bounds, rows: Readonly<Record<string, Shares>>): string {
  const heading = [
    "in percent",
    "kept",
    "by edge",
    "by region",
    "late",
    "refused",
    "extra load",
    ...budgets.map((ms) => `${ms} ms`),
  ];
  return table(heading, [
    ["bound", share(bounds.both), "", "", "", "", "", ...bounds.byBudget.map(share)],
    ["idle edge", share(bounds.edge), "", "", "", "", "", ...budgets.map(() => "")],
    ["idle region", share(bounds.region), "", "", "", "", "", ...budgets.map(() => "")],
    ...Object.entries(rows).map(
      ([name, { kept, keptByEdge, keptByRegion, late, refused, extraLoad, keptByBudget }]) => [
        name,
        ...[kept, keptByEdge, keptByRegion, late, refused, extraLoad, ...keptByBudget].map(share),
      ],
    ),
  ]);
}
