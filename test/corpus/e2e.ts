// Optimizes random exports of mainstream encoders and prints how many become complete, with the causes of the others:
//
//     python test/corpus/make_random_exports.py <folder>
//     npm run e2e:exports -- <folder>
//
// A result is wrong if it differs from the original on a batch with or without padding, with or without onnxruntime's own
// optimizations. A refused model is sound if its result, written without the comparison, is not wrong.
import { join } from "node:path";
import { inFloat32 } from "#sdk/compile/accuracy/output-tolerance.ts";
import { type OptimizedModel, optimize } from "#sdk/compile/commands/optimize.ts";
import { fromOnnx } from "#sdk/compile/onnx/from-onnx.ts";
import { readOnnx } from "#sdk/compile/onnx/read-onnx.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { commandLine } from "../commands/command-line.ts";
import { type ExportCase, readExportCase, toTensors } from "../fixtures/export-case.ts";
import { type Rounding, shareOfTolerance } from "../oracles/agreement.ts";
import { rewritings, runModel, type Tensors } from "../oracles/run-model.ts";
import { casesIn } from "./exported-model.ts";

/** Minimum share of exports that become complete. None may be wrong, and no sound one may be refused. */
const ASKED = 0.97;

interface RandomExport extends ExportCase {
  /** Exports that make_random_exports.py did not write name no family. */
  readonly family?: string;
  readonly quantized?: boolean;
  readonly config: { readonly num_hidden_layers?: number; readonly n_layers?: number };
}

interface Outcome {
  readonly name: string;
  readonly family: string;
  /** Error code of `optimize`; undefined if it accepted the model. */
  readonly refusal: string | undefined;
  /** Largest share of the tolerance that a batch uses up. More than 1 is wrong. */
  readonly share: number;
  /** Why the result is not complete; empty if it is. */
  readonly causes: readonly string[];
}

const roundingOf = ({ quantized, dtype }: RandomExport): Rounding =>
  quantized ? "quantized" : dtype === "float16" ? "float16" : "float32";

/** Maximum error of a fused float16 model, as a multiple of the original's. Their roundings come in another order. */
const ERRORS = 2;

/** Compares the errors of both float16 models: their distances from the same model in float32. */
async function shareOfErrors(original: string, feed: Tensors, outputs: Tensors, found: Tensors): Promise<number> {
  const exact = encodeOnnx(inFloat32(fromOnnx(await readOnnx(original))));
  const [reference = {}] = await runModel(exact, [feed], "disabled");
  return errorOf(found, reference) / (ERRORS * errorOf(outputs, reference));
}

/** Returns the largest difference of a float16 model's outputs from those in float32. */
const errorOf = (outputs: Tensors, reference: Tensors): number =>
  Math.max(
    ...Object.entries(reference).flatMap(([name, { data }]) => {
      const found = outputs[name]?.data as Float32Array | undefined;
      return Array.from(data as Float32Array, (value, i) => Math.abs(value - Number(found?.[i])));
    }),
  );

async function largestShare(stored: RandomExport, original: string, result: Uint8Array<ArrayBuffer>): Promise<number> {
  let largest = 0;
  const feeds = stored.inputs.map(toTensors);
  for (const rewriting of rewritings) {
    const wanted =
      rewriting === "disabled" ? stored.outputs.map(toTensors) : await runModel(original, feeds, rewriting);
    const found = await runModel(result, feeds, rewriting);
    for (const [i, outputs] of wanted.entries()) {
      const share = shareOfTolerance(found[i] ?? {}, outputs, roundingOf(stored));
      const [feed] = feeds.slice(i);
      const isExplained = share > 1 && feed && roundingOf(stored) === "float16";
      largest = Math.max(largest, isExplained ? await shareOfErrors(original, feed, outputs, found[i] ?? {}) : share);
    }
  }
  return largest;
}

function causesOf({ complete, reasons, fused }: OptimizedModel, { config }: RandomExport): string[] {
  const layers = config.num_hidden_layers ?? config.n_layers ?? Number.NaN;
  const attentions = ["Attention", "MultiHeadAttention"].reduce((sum, name) => sum + (fused[name] ?? 0), 0);
  if (complete && attentions !== layers) return [`said to be complete, with ${attentions} of ${layers} attentions`];
  return [...new Set(reasons.map(({ pattern, why }) => `${pattern}: ${why}`))];
}

async function outcomeOf(folder: string, name: string): Promise<Outcome> {
  const stored = readExportCase(join(folder, name)) as RandomExport;
  const model = join(folder, name, "model.onnx");
  let refusal: string | undefined;
  const report = await optimize({ model, allowPartial: true }).catch((error) => {
    refusal = `${error.code}: ${error.message}`;
    return optimize({ model, allowPartial: true, checkParity: false });
  });
  const share = report.model ? await largestShare(stored, model, report.model) : Number.POSITIVE_INFINITY;
  return { name, family: stored.family ?? "other", refusal, share, causes: causesOf(report, stored) };
}

const isWrong = ({ share }: Outcome) => !(share <= 1);
const isRefused = (outcome: Outcome) => outcome.refusal !== undefined && !isWrong(outcome);
const isComplete = ({ causes }: Outcome) => causes.length === 0;

function row(label: string, outcomes: readonly Outcome[]): string {
  const complete = outcomes.filter(isComplete).length;
  const columns = [
    outcomes.length,
    `${complete} (${((100 * complete) / outcomes.length).toFixed(1)} %)`,
    outcomes.filter(isWrong).length,
    outcomes.filter(isRefused).length,
  ];
  return [label.padEnd(14), ...columns.map((column) => String(column).padStart(14))].join("");
}

const { positionals, values, refuse } = commandLine(
  `npm run e2e:exports -- <folder> [--only <part of a name>]
Optimizes the exports in a folder, and prints how many become complete. test/corpus/make_random_exports.py writes such folders.`,
  { only: { type: "string", default: "" } },
  { allowPositionals: true },
);
const [folder = ""] = positionals;
const names = casesIn(folder).filter((name) => name.includes(values.only));
if (names.length === 0) refuse(`There are no exports in the folder "${folder}".`);
const outcomes: Outcome[] = [];
for (const name of names) {
  const outcome = await outcomeOf(folder, name);
  outcomes.push(outcome);
  const { share, refusal, causes } = outcome;
  const notes = [isWrong(outcome) && "WRONG", refusal, ...causes].filter(Boolean);
  console.log(`${name}: ${share.toFixed(3)} of the tolerance${notes.map((note) => `\n    ${note}`).join("")}`);
}

console.log(
  `\n${["", "exports", "complete", "wrong", "sound refused"].map((name, i) => (i ? name.padStart(14) : name.padEnd(14))).join("")}`,
);
for (const [family, group] of Map.groupBy(outcomes, (outcome) => outcome.family)) console.log(row(family, group ?? []));
console.log(row("all", outcomes));
for (const [cause, group] of Map.groupBy(
  outcomes.flatMap(({ name, causes }) => causes.map((cause) => ({ name, cause }))),
  ({ cause }) => cause,
)) {
  console.log(`\n${cause}\n    ${group.map(({ name }) => name).join("\n    ")}`);
}
const passes =
  outcomes.filter(isComplete).length >= ASKED * outcomes.length && !outcomes.some(isWrong) && !outcomes.some(isRefused);
process.exitCode = passes ? 0 : 1;
