import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as ort from "onnxruntime-node";
import type { TokenPair } from "../../runtime/engine/engine.ts";
import { ortFileSession, toOrt } from "../evaluate/ort-session.ts";
import { randomNumbers, tokenBatches } from "../evaluate/token-batches.ts";
import { withWorkFolder } from "../files/folders.ts";
import type { Graph } from "../graph/graph.ts";
import { concatenate } from "../graph/tensor-math.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import { inSubprocess } from "../subprocess/run-in-subprocess.ts";

/** An output to compare. */
export interface ComparedOutput {
  readonly name: string;
  /** Whether the output has numbers for each token: [batch, sequence, …]. If not, it has numbers for each text: [batch, …]. */
  readonly isPerToken: boolean;
}

export interface ComparedSizes {
  /** Number of rows of the token embedding table. */
  readonly vocabulary: number;
  /** Maximum length of a text in tokens. */
  readonly tokens: number;
}

/**
 * Compares a file with the graph that `openSizes` made from it: a subprocess runs both and compares the results. The file
 * gets each text alone, padded to the fixed sizes. The graph gets each text alone at its own length, and then all texts together.
 *
 * @returns how the results differ; undefined if they agree
 * @throws BertEdgeError `engine_failed` if the subprocess ends
 */
export const openedDifference = (
  path: string,
  graph: Graph,
  outputs: readonly ComparedOutput[],
  sizes: ComparedSizes,
): Promise<string | undefined> =>
  withWorkFolder(tmpdir(), async (folder) => {
    const opened = join(folder, "opened.onnx");
    await writeOnnx(opened, graph, {}, { maxInlineBytes: 0 });
    return inSubprocess("compile/checkpoint/compare-opened", compareOpened, {
      failure: "engine_failed",
      what: `${path} could not be compared at other sizes`,
      // A few texts take seconds. This deadline stops only a subprocess that hangs.
      deadlineMs: 60 * 60_000,
    })(path, opened, outputs, sequencesOf(sizes));
  });

/** Lengths of the compared texts, as shares of the maximum length. Each text has at least one token. */
const SHARES = [0, 0.1, 0.3, 0.5, 0.8, 0.95, 1];

/** Draws texts of several lengths. The second half of each text has the token type 1. */
function sequencesOf({ vocabulary, tokens }: ComparedSizes): TokenPair[] {
  const random = randomNumbers(20_261_128);
  const draw = () => Math.floor(random() * vocabulary);
  return SHARES.map((share) => {
    const ids = Int32Array.from({ length: Math.max(1, Math.round(share * tokens)) }, draw);
    return { ids, secondFrom: Math.ceil(ids.length / 2) };
  });
}

/**
 * Maximum difference, as a share of the largest absolute value in the file's results. Fused operators add numbers in another
 * order, which causes less than a tenth of this difference. A wrong size causes at least a hundred times as much.
 */
const TOLERANCE = 1e-4;

/**
 * Compares two files in the process that calls this function.
 *
 * @inSubprocess
 */
export async function compareOpened(
  path: string,
  opened: string,
  outputs: readonly ComparedOutput[],
  sequences: readonly TokenPair[],
): Promise<string | undefined> {
  const alone = sequences.map((sequence) => [sequence]);
  const expected = await resultsOf(path, outputs, alone);
  if (typeof expected === "string") return `onnxruntime cannot run the file: ${expected}`;
  // Each text alone, and then all in one batch.
  const found = await resultsOf(opened, outputs, [...alone, sequences]);
  if (typeof found === "string") return `onnxruntime fails: ${found}`;
  const largest = expected.reduce((most, numbers) => Math.max(most, largestOf(numbers)), 0);
  const other = found.findIndex((numbers, i) => {
    const wanted = expected[i % sequences.length] as Float32Array;
    const difference = largestOf(numbers.map((value, at) => value - (wanted[at] as number)));
    // NaN is a difference, too.
    return numbers.length !== wanted.length || !(difference <= TOLERANCE * largest);
  });
  if (other < 0) return undefined;
  const beside = other < sequences.length ? "" : " in a batch with other texts";
  return `a text of ${sequences[other % sequences.length]?.ids.length} tokens gets other results${beside}`;
}

/** Returns the numbers of each text, with all outputs in one array; the error message if the file does not run. */
async function resultsOf(
  path: string,
  outputs: readonly ComparedOutput[],
  batches: readonly (readonly TokenPair[])[],
): Promise<Float32Array[] | string> {
  const graph = fromOnnx(await readOnnx(path));
  let session: ort.InferenceSession | undefined;
  try {
    session = await ortFileSession(path, { graphOptimizationLevel: "disabled", logSeverityLevel: 4 });
    const results: Float32Array[] = [];
    for (const texts of batches) {
      let done = 0;
      // `tokenBatches` sorts texts by length. `texts` is already sorted, so the rows of the batches are in the same order.
      for (const batch of tokenBatches(graph, texts)) {
        const feeds = Object.fromEntries([...batch].map(([name, value]) => [name, toOrt(value)]));
        const found = await session.run(feeds);
        const [rows = 0] = found[outputs[0]?.name ?? ""]?.dims ?? [];
        for (let row = 0; row < rows && done < texts.length; row++) {
          const { length } = (texts[done++] as TokenPair).ids;
          const own = outputs.map((output) => ofText(found[output.name] as ort.Tensor, output, row, length));
          results.push(concatenate(Float32Array, own));
        }
      }
    }
    return results;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await session?.release();
  }
}

/** Returns the numbers of one text in an output, without the numbers of padding. */
function ofText({ data, dims }: ort.Tensor, { isPerToken }: ComparedOutput, row: number, tokens: number): Float32Array {
  const numbers = data as Float32Array;
  const all = numbers.length / (dims[0] as number);
  const own = isPerToken ? (all / (dims[1] as number)) * tokens : all;
  return numbers.subarray(row * all, row * all + own);
}

/** Returns the largest absolute value; NaN if a number is NaN. */
const largestOf = (numbers: Float32Array): number =>
  numbers.reduce((most, value) => (Number.isNaN(value) ? value : Math.max(most, Math.abs(value))), 0);
