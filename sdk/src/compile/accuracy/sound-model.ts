import { BertEdgeError } from "../../artifact/error.ts";
import { canBeConstant } from "../../runtime/are-finite.ts";
import type { EngineSession } from "../../runtime/engine/engine.ts";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { isInteger, numbersOf, reading, type Tensor, toFloat32 } from "../graph/tensor.ts";
import type { TextModel } from "../model/text-model.ts";
import { type ActivationStatistics, sumsOfSquares } from "../quantize/calibration/activation-statistics.ts";

/**
 * Refuses a graph with NaN or infinite weights. Later checks would miss these weights: quantizers turn NaN and infinity
 * into ordinary numbers, and probe texts read only a few rows of a table.
 *
 * Two kinds of constants may contain infinite numbers: masks that consist of 0 and −∞, and constants with a single
 * number. A single infinite number is a bound, not a weight.
 *
 * @param source names the graph in the error message
 * @throws BertEdgeError `weights_invalid` with the constant and the node that reads it
 */
export function assertFiniteWeights(graph: Graph, source: string): void {
  for (const value of graph.constants()) {
    const { constant } = value;
    if (!constant || isInteger(constant.dtype) || reading(constant, isSound)) continue;
    throw new BertEdgeError(
      "weights_invalid",
      `${source}: ${value.name}, ${readerOf(value)}, holds NaN or infinite numbers.`,
      {
        hint: "The training diverged, or the file is damaged. Use an earlier checkpoint, or download the file again.",
      },
    );
  }
}

const isSound = (tensor: Tensor): boolean =>
  canBeConstant(tensor.dtype === "float64" ? Float64Array.from(numbersOf(tensor)) : toFloat32(tensor));

function readerOf({ users }: Value): string {
  const [reader] = users;
  return reader ? `which ${reader.name || reader.opType} reads` : "an output";
}

/**
 * Largest difference that rounding can cause, as a share of a vector's largest number. Measured: 2e-6 between two
 * texts of different lengths, with a model that computes the same vector for every token.
 */
const ROUNDING = 1e-5;

/**
 * Maximum ratio of variance to mean square for a channel that counts as constant. Because float32 sums are rounded,
 * constant channels have ratios of up to 2e-4.
 */
const SUMMED_ROUNDING = 1e-3;

/** Activation statistics of the input of each weight matrix. `weights` names the matrices in the order of the graph. */
interface OrderedStatistics {
  readonly weights: readonly string[];
  readonly get: (weight: string) => ActivationStatistics | undefined;
}

/**
 * Refuses a model that computes the same result for every text, because comparing its outputs would show nothing.
 *
 * @param results vectors or logits of different texts
 * @param statistics used to find the first layer whose input is the same for all tokens
 * @throws BertEdgeError `model_constant`; `vector_invalid` for NaN and infinite numbers
 */
export function assertVaries(
  results: readonly Float32Array[],
  { weights, get }: OrderedStatistics = { weights: [], get: () => undefined },
): void {
  const last = weights.at(-1);
  if (!allFinite(results)) {
    const where = last === undefined ? "" : ` after ${last}`;
    throw new BertEdgeError("vector_invalid", `The float32 model computes NaN or infinite numbers${where}.`, {
      hint: "Check the checkpoint for very large weights, or use an earlier checkpoint.",
    });
  }
  if (differ(results)) return;
  const constant = weights.find((weight) => {
    const statistics = get(weight);
    return statistics && !varies(statistics);
  });
  const where = constant
    ? `: the input of ${constant} is the same for all tokens`
    : last && `: the input of ${last} differs between texts, but the model's result does not`;
  throw new BertEdgeError("model_constant", `The model computes the same result for every text${where ?? ""}.`, {
    hint: "The training failed, or the file is damaged. Use an earlier checkpoint, or download the file again.",
  });
}

/** Whether results are finite and not all the same, up to rounding. */
export function differ(results: readonly Float32Array[]): boolean {
  const [first = new Float32Array(), ...others] = results;
  return allFinite(results) && others.some((result) => differs(result, first));
}

const allFinite = (results: readonly Float32Array[]) => results.every((result) => result.every(Number.isFinite));

function differs(a: Float32Array, b: Float32Array): boolean {
  const largest = a.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  return a.some((value, i) => Math.abs(value - (b[i] as number)) > ROUNDING * largest);
}

function varies(statistics: ActivationStatistics): boolean {
  const { tokens, sum } = statistics;
  return sumsOfSquares(statistics).some((total, i) => {
    const meanSquare = total / tokens;
    return meanSquare - ((sum[i] as number) / tokens) ** 2 > SUMMED_ROUNDING * meanSquare;
  });
}

/**
 * Checks that the model runs on a text of `maxTokens` tokens. No other check notices that a model has fewer positions.
 *
 * @throws BertEdgeError `checkpoint_invalid`
 */
export async function assertLongest(
  { maxTokens, encode }: Pick<TextModel, "maxTokens" | "encode">,
  session: Pick<EngineSession, "run">,
): Promise<void> {
  const [ids = new Int32Array(1)] = encode(["a"]);
  // Repeats the token of "a". Padding tokens would not test all positions, because models like RoBERTa give all padding
  // tokens the same position.
  const longest = new Int32Array(maxTokens).fill(ids[ids.length >> 1] as number);
  try {
    await session.run([longest]);
  } catch (cause) {
    throw new BertEdgeError(
      "checkpoint_invalid",
      `The model cannot run on ${maxTokens} tokens, the maximum that its folder declares.`,
      {
        hint: "Check that max_position_embeddings, pad_token_id and model_type in config.json match the weights.",
        cause,
      },
    );
  }
}
