import { BertEdgeError } from "../../artifact/error.ts";
import type { Parity } from "../../artifact/manifest.ts";
import type { TokenSequence } from "../../runtime/engine/engine.ts";
import { sentenceVector } from "../../runtime/tasks/sentence-vector.ts";
import { fromOrt } from "../evaluate/ort-session.ts";
import { maskIn, tokenBatches } from "../evaluate/token-batches.ts";
import { numbersOf } from "../graph/tensor.ts";
import { concatenate } from "../graph/tensor-math.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { reportProgress } from "../subprocess/messages.ts";
import { inSubprocess, type SubprocessOptions } from "../subprocess/run-in-subprocess.ts";
import { rank } from "./compare-numbers.ts";
import { COMPARISON, type ModelRun, runModel } from "./model-runs.ts";
import { parity } from "./parity.ts";
import { probeInputs } from "./probe-inputs.ts";
import { assertVaries } from "./sound-model.ts";

/**
 * Measures how close a quantized ONNX file is to the original. It compares each text's mean hidden state, vector or
 * logits. If there are several outputs, it returns the result of the worst output. The original file runs without graph
 * optimizations, the quantized file with all optimizations.
 *
 * @param sequences token ids of texts. Default: the batches of random tokens that the original can run
 * @throws BertEdgeError `parity_impossible` when a file does not run, or has no output to compare; `model_constant` or
 *   `vector_invalid` when the original's outputs are all the same or not finite
 */
export async function modelAgreement(
  original: string,
  quantized: string,
  sequences?: readonly TokenSequence[],
): Promise<Parity> {
  const graph = fromOnnx(await readOnnx(original));
  const cases = sequences ? sequences.map((ids) => tokenBatches(graph, [ids])) : probeInputs(graph);
  const runs = await runModel(original, "disabled", cases, { progress: (share) => reportProgress(share / 2) });
  const expected = runs.filter((run) => run !== undefined);
  if (expected.length === 0 || (sequences && expected.length < sequences.length)) {
    throw new BertEdgeError("parity_impossible", `${original} does not run on the probe texts.`, {
      hint: "Check that the model runs in onnxruntime, and that the tokenizer belongs to this model.",
    });
  }
  const found = await runModel(
    quantized,
    "all",
    expected.map(({ inputs }) => [inputs]),
    { progress: (share) => reportProgress((1 + share) / 2) },
  );
  const measured = graph.outputs.flatMap(({ name }) => {
    const [wanted, got] = [expected, found].map((runs) => runs.map((run) => rowsOf(quantized, name, run)));
    if (!wanted?.every((rows) => rows !== undefined) || !got?.every((rows) => rows !== undefined)) return [];
    assertVaries(wanted.flat());
    return parity(wanted.flat(), got.flat(), { are: name === "logits" ? "logits" : "vectors" });
  });
  const [worst] = measured.toSorted((a, b) => rank(a.meanCosine) - rank(b.meanCosine));
  if (worst) return worst;
  throw new BertEdgeError("parity_impossible", `The outputs of ${original} and ${quantized} cannot be compared.`, {
    hint: "Both files need an output with the same name and a float type: hidden states, vectors or logits.",
  });
}

/**
 * Runs `modelAgreement` in a subprocess.
 *
 * @throws BertEdgeError `parity_failed`, `aborted`, and the errors of `modelAgreement`
 */
export const modelAgreementInSubprocess = (
  original: string,
  quantized: string,
  sequences?: readonly TokenSequence[],
  options: Pick<SubprocessOptions, "signal" | "onProgress"> = {},
): Promise<Parity> =>
  inSubprocess("compile/accuracy/model-agreement", modelAgreement, { ...COMPARISON, ...options })(
    original,
    quantized,
    sequences,
  );

/**
 * Returns one vector for each text of a run: the mean hidden state, the sentence vector or the logits. For outputs with
 * one number per token, the vector contains the numbers of all tokens. Returns undefined for other outputs.
 *
 * @throws BertEdgeError `parity_impossible` when `run` is undefined
 */
function rowsOf(path: string, name: string, run: ModelRun | undefined): Float32Array[] | undefined {
  if (!run)
    throw new BertEdgeError("parity_impossible", `The original model runs on the probe inputs, but ${path} does not.`, {
      hint: "This is a bug in the quantization: report it, if possible with the model.",
    });
  const output = run.outputs[name];
  if (!output?.type.startsWith("float") || output.dims.length < 2 || output.dims.length > 3) return undefined;
  const [texts = 0, second = 0, third = 1] = output.dims;
  const mask = maskIn(run.inputs);
  const isPerToken = output.dims.length === 3 || (mask?.shape[1] === second && second > 1);
  const [length, width] = isPerToken ? [second, third] : [1, second];
  const shown = isPerToken && mask ? numbersOf(mask) : undefined;
  const data = Float32Array.from(numbersOf(fromOrt(output)));
  return Array.from({ length: texts }, (_, text) => {
    const rows = Array.from({ length }, (_, token) => text * length + token).filter((row) => shown?.[row] !== 0);
    const hiddenStates = concatenate(
      Float32Array,
      rows.map((row) => data.subarray(row * width, (row + 1) * width)),
    );
    return output.dims.length === 3
      ? sentenceVector(hiddenStates, width, { pooling: "mean", normalize: false })
      : hiddenStates;
  });
}
