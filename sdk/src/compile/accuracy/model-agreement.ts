import * as ort from "onnxruntime-node";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Parity } from "../../artifact/manifest.ts";
import type { TokenIds } from "../../runtime/engine/engine.ts";
import { sentenceVector } from "../../runtime/tasks/sentence-vector.ts";
import { fromOrt } from "../evaluate/ort-tensor.ts";
import { tokenBatches } from "../evaluate/token-batches.ts";
import { numbersOf } from "../graph/tensor.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { inSubprocess } from "../subprocess/run-in-subprocess.ts";
import { COMPARISON } from "./comparison.ts";
import { parity } from "./parity.ts";
import { probeInputs } from "./probe-inputs.ts";
import { type ModelRun, runFirst } from "./run-first.ts";
import { assertVaries } from "./varies.ts";

/**
 * How close a quantized ONNX file comes to the original, the first as it will be served, the second as written: by the mean of
 * every text's token states, its vector or its logits. Of several outputs the worst counts.
 *
 * @param sequences texts' token ids. Default: batches of random tokens, as far as the original takes them
 * @throws BertEdgeError `parity_impossible` when one of them does not run, or has no output to compare; `model_constant`,
 *   `vector_invalid` when the original's says nothing
 */
export async function modelAgreement(
  original: string,
  quantized: string,
  sequences?: readonly TokenIds[],
): Promise<Parity> {
  const graph = fromOnnx(await readOnnx(original));
  const cases = sequences ? sequences.map((ids) => tokenBatches(graph, [ids])) : probeInputs(graph);
  const reference = await sessionOf(original, "disabled");
  const expected = (await runFirst(reference, cases)).filter((run) => run !== undefined);
  if (expected.length === 0 || (sequences && expected.length < sequences.length)) {
    throw new BertEdgeError("parity_impossible", `${original} does not run on the probe texts.`, {
      hint: "Check that it runs in onnxruntime on its own, and that the tokenizer is this model's.",
    });
  }
  const found = await runFirst(
    await sessionOf(quantized, "all"),
    expected.map(({ inputs }) => [inputs]),
  );
  const measured = graph.outputs.flatMap(({ name }) => {
    const [wanted, got] = [expected, found].map((runs) => runs.map((run) => rowsOf(quantized, name, run)));
    if (!wanted?.every((rows) => rows !== undefined) || !got?.every((rows) => rows !== undefined)) return [];
    assertVaries(wanted.flat());
    return parity(wanted.flat(), got.flat(), name === "logits" ? "classify" : "embed");
  });
  const [worst] = measured.toSorted((a, b) => rank(a) - rank(b));
  if (worst) return worst;
  throw new BertEdgeError(
    "parity_impossible",
    `${original} has no output that could be compared: states, vectors or logits.`,
  );
}

/**
 * Runs `modelAgreement` in a subprocess.
 *
 * @throws BertEdgeError `parity_failed`, `aborted`, and as `modelAgreement`
 */
export const modelAgreementInSubprocess = (
  original: string,
  quantized: string,
  sequences?: readonly TokenIds[],
  signal?: AbortSignal,
): Promise<Parity> =>
  inSubprocess(import.meta.url, modelAgreement, { ...COMPARISON, signal })(original, quantized, sequences);

/** NaN is worse than any number. */
const rank = ({ meanCosine }: Parity): number => (Number.isNaN(meanCosine) ? Number.NEGATIVE_INFINITY : meanCosine);

const sessionOf = (path: string, graphOptimizationLevel: "disabled" | "all") =>
  ort.InferenceSession.create(path, { graphOptimizationLevel, intraOpNumThreads: 1, logSeverityLevel: 4 });

/**
 * Of every text of a run what an output says of it: the mean of its tokens' states, numbers of its tokens, a vector or logits.
 * Undefined for outputs that are none of these.
 *
 * @throws BertEdgeError `parity_impossible` when there was no run
 */
function rowsOf(path: string, name: string, run: ModelRun | undefined): Float32Array[] | undefined {
  if (!run) throw new BertEdgeError("parity_impossible", `${path} does not run where the original does.`);
  const output = run.outputs[name];
  if (!output?.type.startsWith("float") || output.dims.length < 2 || output.dims.length > 3) return undefined;
  const [texts = 0, second = 0, third = 1] = output.dims;
  const mask = run.inputs.get("attention_mask");
  const isPerToken = output.dims.length === 3 || (mask?.shape[1] === second && second > 1);
  const [length, width] = isPerToken ? [second, third] : [1, second];
  const shown = isPerToken && mask ? numbersOf(mask) : undefined;
  const data = Float32Array.from(numbersOf(fromOrt(output)));
  return Array.from({ length: texts }, (_, text) => {
    const rows = Array.from({ length }, (_, token) => text * length + token).filter((row) => shown?.[row] !== 0);
    const states = joined(rows.map((row) => data.subarray(row * width, (row + 1) * width)));
    return output.dims.length === 3 ? sentenceVector(states, width, { pooling: "mean", normalize: false }) : states;
  });
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
}
