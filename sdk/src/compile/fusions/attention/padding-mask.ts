import {
  largestConstant,
  MAX_PROBED_ELEMENTS,
  probe,
  sourcesOf,
  symbolsIn,
  type ValueSources,
} from "../../evaluate/probe.ts";
import { symbolOf } from "../../graph/dim.ts";
import type { Graph } from "../../graph/graph.ts";
import { MICROSOFT, type Value } from "../../graph/node.ts";
import { numbersOf, type Tensor, tensorFromNumbers, toFloat32 } from "../../graph/tensor.ts";
import { movedInput } from "../../layout/index-map.ts";
import type { Question } from "../../rewrite/rule.ts";

/** The effect of a mask on attention scores, found by computing the mask for sample inputs. */
export type MaskKind =
  /** The mask has no effect for any input. */
  | { readonly kind: "none" }
  /** The mask hides exactly the keys for which `input` [batch, sequence] is 0, and hides them from every query. */
  | {
      readonly kind: "padding";
      readonly input: Value;
      /** Number that is added to the scores of hidden keys; undefined for a boolean mask. */
      readonly fill: number | undefined;
      /** Value of a boolean mask for attended keys; undefined for other masks. */
      readonly attended: number | undefined;
    }
  | { readonly kind: "refused"; readonly why: string };

const refused = (why: string): MaskKind => ({ kind: "refused", why });

/** Maximum mask value that hides a key. Added to a score of a trained model, it gives a probability of 0 in float32. */
const MAX_HIDDEN = -9000;
/** Maximum magnitude of a mask value that leaves a score unchanged. tf2onnx adds 1e-9 to masks. */
const MAX_VISIBLE = 1e-6;

/**
 * Minimum sequence length of probes. It should be longer than every attention window, also if a model computes the
 * window from several small constants.
 */
const LENGTH = 521;

/**
 * Maximum constant in a mask. A larger constant would need longer probes, whose [sequence, sequence] tensors are too
 * large.
 */
const MAX_CONSTANT = 1024;

/**
 * Decides whether a mask on attention scores is a padding mask. Computes the mask for several inputs: without padding,
 * padded on the right, padded on the left, and with scattered zeros. The sequence is longer than every constant in the
 * computation, so that an attention window has an effect and is not mistaken for a padding mask.
 */
export const paddingMask: Question<MaskKind> = {
  name: "padding mask",
  async answer(graph: Graph, value: Value): Promise<MaskKind> {
    const sources = sourcesOf(value);
    if (!sources) return refused("the mask is computed from too many nodes");
    const [input, ...more] = sources.inputs;
    if (more.length > 0)
      return refused(
        `the mask depends on more than one input: ${[...sources.inputs].map(({ name }) => name).join(" and ")}`,
      );
    if (input && isIndex(input))
      return refused(`the mask depends on ${input.name}, which is an index and not an attention mask`);
    const length = largestConstant(sources);
    if (length > MAX_CONSTANT)
      return refused(`the mask contains the constant ${length}; at most ${MAX_CONSTANT} is supported`);
    const sequence = Math.max(LENGTH, 2 * length + 3);
    return input ? probeMask(graph, value, sources, input, sequence) : probeFixed(graph, value, sources, sequence);
  },
};

/**
 * Whether a value is used as an index into a table. Probes contain only 0 and 1. These numbers show all effects of an
 * attention mask, but not of an index.
 */
const isIndex = (value: Value): boolean =>
  [...value.users].some((user) =>
    user.is("Cast") || movedInput(user) === value
      ? isIndex(user.output)
      : user.is("EmbedLayerNormalization", MICROSOFT) || (user.is("Gather") && user.inputs[1] === value),
  );

async function probeMask(
  graph: Graph,
  value: Value,
  sources: ValueSources,
  input: Value,
  length: number,
): Promise<MaskKind> {
  const [batch, keys] = input.shape ?? [];
  if (input.shape?.length !== 2) return refused(`the shape of ${input.name} is not [batch, sequence]`);
  const [rows, columns] = [typeof batch === "number" ? batch : 4, typeof keys === "number" ? keys : length];
  if (rows * columns ** 2 > MAX_PROBED_ELEMENTS)
    return refused(`the fixed shape of ${input.name} is too large to be probed`);
  const masks = probeMasks(rows, columns);
  if (!input.dtype) return refused(`the type of ${input.name} is unknown`);
  const given = tensorFromNumbers(input.dtype, [rows, columns], masks.data);
  // Exporters may name the batch size differently for each input, so the first axis of every input counts as the batch.
  const batches = graph.inputs.flatMap(({ shape = [] }) => (shape.length > 1 ? (symbolOf(shape[0]) ?? []) : []));
  const known = new Map([...batches.map((name) => [name, rows] as const), [symbolOf(keys) ?? "", columns] as const]);
  return probeTwice(sources, known, columns, async (symbols) => {
    const found = await probe(graph, value, sources, symbols, new Map([[input, given]]));
    return found && kindOf(found, masks, input);
  });
}

const probeFixed = (graph: Graph, value: Value, sources: ValueSources, length: number): Promise<MaskKind> =>
  probeTwice(sources, new Map(), length, async (symbols) => {
    const found = await probe(graph, value, sources, symbols, new Map());
    if (!found) return undefined;
    if (found.dtype === "bool") return refused("the mask is a condition that depends on no input");
    const nothing = numbersOf(found).every((score) => Math.abs(score) <= MAX_VISIBLE);
    return nothing ? { kind: "none" } : refused("the mask hides keys but depends on no input");
  });

/**
 * Computes the mask with one number for all unknown lengths. Then computes it with a different, smaller number for each
 * length, because there may be more or fewer keys than queries. If onnxruntime cannot compute the mask for different
 * lengths, the first result counts.
 */
async function probeTwice(
  sources: ValueSources,
  known: ReadonlyMap<string, number>,
  length: number,
  probeAt: (symbols: ReadonlyMap<string, number>) => Promise<MaskKind | undefined>,
): Promise<MaskKind> {
  const open = [...symbolsIn(sources)].filter((name) => !known.has(name));
  const together = await probeAt(new Map([...known, ...open.map((name) => [name, length] as const)]));
  if (!together) return refused("onnxruntime cannot compute the mask separately");
  if (open.length === 0 || together.kind === "refused") return together;
  // Tries both orders, because either length may be the longer one.
  for (const names of [open, open.toReversed()]) {
    const apart = await probeAt(new Map([...known, ...names.map((name, i) => [name, length - 3 - i] as const)]));
    if (apart?.kind === "refused") return apart;
  }
  return together;
}

/** Attention masks [batch, sequence] of 0 and 1. */
interface ProbeMasks {
  readonly batch: number;
  readonly sequence: number;
  readonly data: Uint8Array;
}

/** The mask that a graph adds to its scores, broadcast to [batch, heads, queries, keys]. All heads have the same mask. */
interface Scores {
  /** 1 if all queries have the same mask. */
  readonly queries: number;
  readonly at: (row: number, query: number, key: number) => number;
}

function kindOf(found: Tensor, masks: ProbeMasks, input: Value): MaskKind {
  const scores = readScores(found, masks.batch, masks.sequence);
  if (!scores) return refused(`the mask has the shape [${found.shape}], which does not fit the scores`);
  const shown = rangeOf(scores, masks, 1);
  const hidden = rangeOf(scores, masks, 0);
  const isNumber = found.dtype !== "bool";
  if (isNumber && shown.min >= -MAX_VISIBLE && shown.max <= MAX_VISIBLE) {
    if (hidden.max <= MAX_HIDDEN) return { kind: "padding", input, fill: hidden.max, attended: undefined };
    if (hidden.min >= -MAX_VISIBLE && hidden.max <= MAX_VISIBLE) return { kind: "none" };
  }
  const uniformly = shown.min === shown.max && hidden.min === hidden.max;
  if (!isNumber && uniformly && shown.min !== hidden.min) {
    return { kind: "padding", input, fill: undefined, attended: shown.min };
  }
  return refused(
    `the mask does not hide exactly the keys for which ${input.name} is 0 (attended: ${shown.min} to ${shown.max}, masked: ${hidden.min} to ${hidden.max})`,
  );
}

/** Returns the smallest and the largest score of the keys that have this number in the attention mask. */
function rangeOf(scores: Scores, masks: ProbeMasks, number: 0 | 1): { min: number; max: number } {
  let [min, max] = [Infinity, -Infinity];
  for (let row = 0; row < masks.batch; row++) {
    const keys = [...Array(masks.sequence).keys()].filter((key) => masks.data[row * masks.sequence + key] === number);
    for (let query = 0; query < scores.queries; query++) {
      for (const key of keys) {
        const score = scores.at(row, query, key);
        min = Math.min(min, score);
        max = Math.max(max, score);
      }
    }
  }
  return { min, max };
}

/**
 * Makes attention masks for probes. Each row is one of four kinds, in turn: all 1, padded on the right, padded on the
 * left, scattered zeros.
 */
function probeMasks(batch: number, sequence: number): ProbeMasks {
  const data = new Uint8Array(batch * sequence);
  const third = Math.ceil(sequence / 3);
  for (let row = 0; row < batch; row++) {
    for (let key = 0; key < sequence; key++) {
      const shown = [true, key < sequence - third, key >= third, (key * 7 + row) % 3 !== 1];
      // If there is only one row, it combines all kinds of padding. With two or three rows, the kinds that hide keys
      // come first.
      const one =
        batch === 1 ? key >= 1 && (key * 7) % 5 !== 3 && key < sequence - 1 : shown[(row + Number(batch < 4)) % 4];
      data[row * sequence + key] = one ? 1 : 0;
    }
  }
  return { batch, sequence, data };
}

/**
 * Reads a mask that is broadcast to [batch, heads, queries, keys].
 *
 * @returns undefined if the mask's shape does not fit or the mask differs by head
 */
function readScores(mask: Tensor, batch: number, sequence: number): Scores | undefined {
  const [b = 1, h = 1, q = 1, k = 1] = [...Array(Math.max(0, 4 - mask.shape.length)).fill(1), ...mask.shape];
  if (
    mask.shape.length > 4 ||
    h !== 1 ||
    ![1, batch].includes(b) ||
    ![1, sequence].includes(q) ||
    ![1, sequence].includes(k)
  ) {
    return undefined;
  }
  const values = mask.dtype === "float32" ? toFloat32(mask) : numbersOf(mask);
  const at = (row: number, query: number, key: number): number =>
    values[((b === 1 ? 0 : row) * q + query) * k + (k === 1 ? 0 : key)] ?? Number.NaN;
  return { queries: q, at };
}
