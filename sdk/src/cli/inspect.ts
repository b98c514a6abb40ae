import { Command } from "commander";
import { BertEdgeError } from "../artifact/error.ts";
import type { FileKeys } from "../compile/checkpoint/modules/ledger.ts";
import type { InspectReport } from "../compile/commands/inspect.ts";
import type { Outline, OutlineNode } from "../compile/graph/outline.ts";
import { repeatedBlocks } from "../compile/graph/outline.ts";
import { hubModel } from "../storage/hub-model.ts";
import { keyFileOption, optionalApiKey } from "./api-key.ts";
import { acceptedLine } from "./options.ts";
import { printError, printJson, printResult, ReportedFailure, table } from "./output.ts";
import { COLUMNS, wrapped } from "./screen/on-screen.ts";
import { stageLog } from "./stage-log.ts";

export const inspectCommand = new Command("inspect")
  .description(
    "print a model's graph before and after fusion, what the targets of an artifact run, or what a deployment serves",
  )
  .argument(
    "<model>",
    "an .onnx file, a Hugging Face model folder, an artifact folder, a model of the Hugging Face Hub (org/name or org/name@revision), or the URL of a deployment",
  )
  .option(...keyFileOption)
  .option("--json", "print the report as JSON")
  .action(async (model: string, { json, keyFile }: { json?: true; keyFile?: string }) => {
    if (/^https?:\/\//i.test(model) && hubModel(model) === undefined) {
      const { deploymentReport, inspectDeployment } = await import("./inspect-deployment.ts");
      const deployment = await inspectDeployment(model, { key: optionalApiKey(keyFile), keyFile });
      return json ? printJson(deployment) : printResult(deploymentReport(deployment));
    }
    const { inspect } = await import("../compile/commands/inspect.ts");
    using log = stageLog();
    const report: InspectReport = await inspect({ model, onProgress: log.progress });
    log.done();
    if (json) printJson(report);
    else printResult(inspectReport(report));
    if (report.kind !== "refused") return;
    const { code, message, hint } = report.refusal;
    printError(new BertEdgeError(code, message, { hint }));
    throw new ReportedFailure();
  });

/** Minimum number of nodes in a repeated block that is called a layer. */
const MIN_LAYER_NODES = 4;

/** Describes graphs with one line for each node. Repeated layers are printed once. */
export function inspectReport(report: InspectReport): string {
  if (report.kind === "artifact") {
    const targets = Object.entries(report.targets).flatMap(([name, { engine, precision, model, outline }]) => [
      "",
      ...described(`${name}, ${engine}, ${precision}, ${model}`, outline),
    ]);
    const heading = [`${report.name}, version ${report.version}`, ...acceptedLine(report.acceptedKeys)];
    return [...heading, ...targets].join("\n");
  }
  if (report.kind === "refused") return keyLines(report.keys).join("\n");
  const { before, after, reasons, excused, keys } = report;
  const unfused = [
    ...reasons.map(({ pattern, node, why }) => `not fused: ${pattern} at ${node}: ${why}`),
    ...excused.map(({ pattern, nodes, why }) => `kept: ${nodes.length} × ${pattern}, first at ${nodes[0]}: ${why}`),
  ].flatMap((text) => wrapped(text, COLUMNS, 3));
  const graphs = [...described("before", before), "", ...described("after", after), "", ...unfused, changed(report)];
  return [...graphs, ...(keys.length === 0 ? [] : ["", ...keyLines(keys)])].join("\n");
}

/** Titles of the treatments of keys, in the order in which a report lists them. */
const treatments = {
  obeyed: "obeyed",
  "no-effect": "without effect",
  refused: "refused",
  unknown: "not known",
} as const;

/** Counts the keys of each file of a model folder by their treatment, and lists them. docs/model-folders.md has the treatments. */
function keyLines(files: readonly FileKeys[]): string[] {
  const kinds = Object.keys(treatments) as (keyof typeof treatments)[];
  const rows = files.map(({ file, counts }) => [file, ...kinds.map((kind) => `${counts[kind]}`)]);
  return [
    ...table(["keys of", ...Object.values(treatments)], rows).split("\n"),
    ...files.flatMap((file) => ["", file.file, ...kinds.flatMap((kind) => keysOf(file, kind))]),
  ];
}

/** Lists the keys of a file that have this treatment. A refused key is listed with the reason. */
function keysOf({ module, keys }: FileKeys, kind: keyof typeof treatments): string[] {
  const names = keys
    .filter(({ treatment }) => treatment === kind)
    .map(({ key, refusal }) => (refusal ? refusal.why : key));
  if (names.length === 0) return [];
  const isRefused = kind === "unknown" && module !== undefined;
  const title = isRefused ? `not known, refused without --accept-key ${module}.<key>` : treatments[kind];
  return wrapped(`${title}: ${names.join(", ")}`, COLUMNS - 2, 4).map((text) => `  ${text}`);
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
