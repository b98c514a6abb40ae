import type { InspectedModel, InspectReport } from "../compile/commands/inspect.ts";
import type { Outline, OutlineNode } from "../compile/graph/outline.ts";
import { repeatedBlocks } from "../compile/graph/repeated-blocks.ts";
import { wrapped } from "./wrapped.ts";

const COLUMNS = 100;

/** Nodes that a repeated block needs to be called a layer. */
const MIN_LAYER_NODES = 4;

/** Describes graphs with one line for each node. Repeated layers are printed once. */
export function inspectReport(report: InspectReport): string {
  if (report.kind === "artifact") {
    const targets = Object.entries(report.targets).flatMap(([name, { engine, precision, model, outline }]) => [
      "",
      ...described(`${name}, ${engine}, ${precision}, ${model}`, outline),
    ]);
    return [`${report.name}, version ${report.version}`, ...targets].join("\n");
  }
  const { before, after, reasons, excused, keys } = report;
  const unfused = [
    ...reasons.map(({ pattern, node, why }) => `not fused: ${pattern} at ${node}: ${why}`),
    ...excused.map(({ pattern, nodes, why }) => `kept: ${nodes.length} × ${pattern}, first at ${nodes[0]}: ${why}`),
  ].flatMap((text) => wrapped(text, COLUMNS, 3));
  const graphs = [...described("before", before), "", ...described("after", after), "", ...unfused, changed(report)];
  return [...graphs, ...keyLines(keys)].join("\n");
}

/** Titles of the treatments of keys, in the order in which a report lists them. */
const treatments = {
  obeyed: "obeyed",
  nested: "obeyed",
  only: "only with the value that is computed",
  "no-effect": "without effect on results",
  unknown: "not known",
} as const;

/** Lists the keys of each file of a model folder by what becomes of them. docs/model-folders.md says why. */
function keyLines(keys: InspectedModel["keys"]): string[] {
  return [...new Set(keys.map(({ file }) => file))].flatMap((file) => {
    const ofFile = keys.filter((each) => each.file === file);
    const lines = [...new Set(Object.values(treatments))].flatMap((title) => {
      const names = ofFile.filter(({ treatment }) => treatments[treatment] === title).map(({ key }) => key);
      return names.length === 0
        ? []
        : wrapped(`${title}: ${names.join(", ")}`, COLUMNS - 2, 4).map((text) => `  ${text}`);
    });
    return ["", file, ...lines];
  });
}

const changed = ({ before, after }: { before: Outline; after: Outline }): string =>
  `${before.nodes} → ${after.nodes} nodes, ${megabytes(before.weightBytes)} → ${megabytes(after.weightBytes)} of weights`;

function described(title: string, { nodes, weightBytes, operators, blocks }: Outline): string[] {
  const counts = Object.entries(operators).map(([operator, count]) => `${count} ${shortName(operator)}`);
  const lines: string[] = [];
  let layer = 0;
  for (const { items, count } of blocks) {
    if (count > 1 && items.length >= MIN_LAYER_NODES) {
      const [first, next, last] = [layer, layer + 1, layer + count - 1];
      lines.push(`  layer ${first}`, ...items.map((node) => `    ${line(node)}`));
      lines.push(`  ${next === last ? `layer ${last}` : `layers ${next}-${last}`}: as layer ${first}`);
      layer += count;
    } else if (items.length === 1) {
      lines.push(`  ${count > 1 ? `${count} × ` : ""}${line(items[0] as OutlineNode)}`);
    } else {
      for (let i = 0; i < count; i++) lines.push(...items.map((node) => `  ${line(node)}`));
    }
  }
  return [
    `${title}: ${nodes} ${nodes === 1 ? "node" : "nodes"}, ${megabytes(weightBytes)} of weights`,
    ...wrapped(counts.join(", "), COLUMNS - 2, 5).map((text) => `  ${text.trim()}`),
    "",
    ...lines,
  ];
}

function line({ operator, weights, result }: OutlineNode): string {
  const bytes = weights.reduce((sum, weight) => sum + weight.bytes, 0);
  const types = repeatedBlocks(weights, ({ type }) => type).flatMap(({ items, count }) =>
    items.map(({ type }) => (count > 1 ? `${count} × ${type}` : type)),
  );
  const read = weights.length > 0 ? ` (${types.join(", ")}: ${megabytes(bytes)})` : "";
  return `${shortName(operator)}${read} → ${result}`;
}

/** Leaves the domain of onnxruntime's own operators out. */
const shortName = (operator: string): string => operator.replace(/^com\.microsoft\./, "");

const megabytes = (bytes: number): string =>
  bytes < 100_000 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
