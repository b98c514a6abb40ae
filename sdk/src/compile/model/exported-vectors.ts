import type { TokenIds } from "../../runtime/engine/engine.ts";
import { isSentenceVector, isUsualExtra, SENTENCE_EMBEDDING } from "../checkpoint/export-outputs.ts";
import type { ExportedModel } from "../checkpoint/exported-graph.ts";
import { ortFileSession, toOrt } from "../evaluate/ort-session.ts";
import { tokenBatches } from "../evaluate/token-batches.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { inSubprocess } from "../subprocess/run-in-subprocess.ts";

/** Outputs of an ONNX file for a text. */
export interface ExportedText {
  /** [tokens, width], row-major. */
  readonly hiddenStates: Float32Array;
  readonly width: number;
  readonly vector: Float32Array;
}

/** The output of an ONNX file that has a vector for each text. */
export interface ExportedVectors {
  readonly output: string;
  readonly texts: readonly ExportedText[];
}

/**
 * Runs an export of an encoder on texts, each alone, in a subprocess: onnxruntime's session takes several times the model's memory.
 *
 * @returns undefined if no output has a vector for each text, apart from the usual extra outputs of transformers' encoders
 * @throws BertEdgeError `engine_failed` if onnxruntime cannot run the file
 */
export async function exportedVectors(
  { path, results: [hiddenStates = ""], others }: Pick<ExportedModel, "path" | "results" | "others">,
  sequences: readonly TokenIds[],
): Promise<ExportedVectors | undefined> {
  const candidates = others.filter((name) => !isUsualExtra(name)).toSorted((a, b) => rank(a) - rank(b));
  if (candidates.length === 0) return undefined;
  return inSubprocess("compile/model/exported-vectors", runExport, {
    failure: "engine_failed",
    what: `${path} does not run`,
    // Three short texts take seconds. This deadline stops only a subprocess that hangs.
    deadlineMs: 60 * 60_000,
  })(path, hiddenStates, candidates, sequences);
}

/** Sort key of outputs: names that say that the output is a vector come first. */
const rank = (name: string): number => [SENTENCE_EMBEDDING === name, isSentenceVector(name), true].indexOf(true);

/**
 * Runs an export in the process that calls this function.
 *
 * @param candidates outputs that may have a vector for each text; the first that has such vectors is taken
 * @inSubprocess
 */
export async function runExport(
  path: string,
  hiddenStates: string,
  candidates: readonly string[],
  sequences: readonly TokenIds[],
): Promise<ExportedVectors | undefined> {
  const graph = fromOnnx(await readOnnx(path));
  const session = await ortFileSession(path, { graphOptimizationLevel: "disabled", logSeverityLevel: 4 });
  try {
    let output: string | undefined;
    const texts: ExportedText[] = [];
    for (const ids of sequences) {
      const [batch = []] = tokenBatches(graph, [ids]);
      const feeds = Object.fromEntries([...batch].map(([name, value]) => [name, toOrt(value)]));
      const found = await session.run(feeds, [hiddenStates, ...candidates]);
      output ??= candidates.find((name) => found[name]?.type === "float32" && found[name].dims.length === 2);
      const [states, vector] = [found[hiddenStates], found[output ?? ""]];
      if (!states || !vector) return undefined;
      // With a file of fixed sizes, the batch repeats the text and has padding after its tokens. Takes only the first row's tokens.
      const width = states.dims.at(-1) ?? 0;
      texts.push({
        hiddenStates: (states.data as Float32Array).slice(0, ids.length * width),
        width,
        vector: (vector.data as Float32Array).slice(0, vector.dims.at(-1)),
      });
    }
    return output === undefined ? undefined : { output, texts };
  } finally {
    await session.release();
  }
}
