import * as ort from "onnxruntime-node";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Parity } from "../../artifact/manifest.ts";
import type { TokenIds } from "../../runtime/engine/engine.ts";
import { sentenceVector } from "../../runtime/tasks/sentence-vector.ts";
import { assertVaries } from "../gate/varies.ts";
import { numbersOf } from "../graph/tensor.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { tokenBatches } from "../quantize/token-batches.ts";
import { parity } from "./parity.ts";
import { probeInputs } from "./probe-inputs.ts";
import { type Run, runFirst } from "./run-first.ts";

/**
 * How close a quantized ONNX file comes to the original, the first as it will be served, the second as written: by the mean of
 * every text's token states, or its logits.
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
  const output = graph.outputs[0]?.name ?? "";
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
  const results = (runs: readonly (Run | undefined)[]) => runs.flatMap((run) => rowsOf(quantized, output, run));
  const isPerToken = expected[0]?.outputs[output]?.dims.length === 3;
  const wanted = results(expected);
  assertVaries(wanted, new Map());
  return parity(wanted, results(found), isPerToken ? "embed" : "classify");
}

const sessionOf = (path: string, graphOptimizationLevel: "disabled" | "all") =>
  ort.InferenceSession.create(path, { graphOptimizationLevel, intraOpNumThreads: 1, logSeverityLevel: 4 });

/** Each text's logits, or the mean of the states of its tokens. */
function rowsOf(path: string, name: string, run: Run | undefined): Float32Array[] {
  const output = run?.outputs[name];
  if (!run || output?.type !== "float32" || output.dims.length < 2 || output.dims.length > 3) {
    throw new BertEdgeError(
      "parity_impossible",
      run
        ? `${path}: ${name} is neither token states nor logits in float32.`
        : `${path} does not run where the original does.`,
    );
  }
  const { dims, data } = output;
  const isPerToken = dims.length === 3;
  const [length, width] = (isPerToken ? dims.slice(1) : [1, dims[1]]) as [number, number];
  const mask = run.inputs.get("attention_mask");
  const shown = isPerToken && mask ? numbersOf(mask) : undefined;
  return Array.from({ length: dims[0] ?? 0 }, (_, text) => {
    const rows = Array.from({ length }, (_, token) => text * length + token).filter((row) => shown?.[row] !== 0);
    const states = rows.map((row) => (data as Float32Array).subarray(row * width, (row + 1) * width));
    return sentenceVector(joined(states), width, { pooling: "mean", normalize: false });
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
