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
import { numbersOf, type Tensor, tensorFromNumbers } from "../../graph/tensor.ts";
import { movedInput } from "../../layout/index-map.ts";
import type { Question } from "../../rewrite/rule.ts";

/** What a mask does to attention scores, found out by computing it. */
export type MaskKind =
  /** Nothing, whatever the inputs are. */
  | { readonly kind: "none" }
  /** It hides the keys at which `input` [batch, sequence] is 0, from every query alike. */
  | {
      readonly kind: "padding";
      readonly input: Value;
      /** What is added to hidden scores; undefined for conditions. */
      readonly fill: number | undefined;
      /** For conditions: what they are where a key is attended. */
      readonly attended: number | undefined;
    }
  | { readonly kind: "refused"; readonly why: string };

const refused = (why: string): MaskKind => ({ kind: "refused", why });

/** Added to a score of any trained model, this leaves a probability of 0 in float32. */
const HIDDEN = -9000;
/** tf2onnx adds 1e-9 to everything. */
const VISIBLE = 1e-6;

/** Longer than most texts: a window that constants make up together shows as well. */
const LENGTH = 521;

/** Beyond this a probe of sequence × sequence is too large; a mask with such a constant is not looked at. */
const MAX_CONSTANT = 1024;

/**
 * Whether a value that is added to scores, or selects among them, is a padding mask: decided by what it is for some masks
 * (full, padded left, padded right, scattered), at a length beyond every constant in its computation, so that a causal
 * mask or a window shows.
 */
export const paddingMask: Question<MaskKind> = {
  name: "padding mask",
  async answer(graph: Graph, value: Value): Promise<MaskKind> {
    const sources = sourcesOf(value);
    if (!sources) return refused("it is computed from more than a mask");
    const [input, ...more] = sources.inputs;
    if (more.length > 0) return refused(`it depends on ${[...sources.inputs].map(({ name }) => name).join(" and ")}`);
    if (input && isIndex(input)) return refused(`it depends on ${input.name}, which are indices rather than a mask`);
    const length = largestConstant(sources);
    if (length > MAX_CONSTANT)
      return refused(`it has a constant of ${length}, beyond which it would have to be probed`);
    const sequence = Math.max(LENGTH, 2 * length + 3);
    return input ? probeMask(graph, value, sources, input, sequence) : probeFixed(graph, value, sources, sequence);
  },
};

/** Tokens are more than 0 and 1, which is all that a mask is probed with. */
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
  if (input.shape?.length !== 2) return refused(`${input.name} is not [batch, sequence]`);
  const [rows, columns] = [typeof batch === "number" ? batch : 4, typeof keys === "number" ? keys : length];
  if (rows * columns ** 2 > MAX_PROBED_ELEMENTS) return refused(`${input.name} is too large to be probed`);
  const masks = probeMasks(rows, columns);
  if (!input.dtype) return refused(`the type of ${input.name} is unknown`);
  const given = tensorFromNumbers(input.dtype, [rows, columns], masks.data);
  // Exporters do not always see that all inputs have one batch: what comes first in any of them is it.
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
    if (found.dtype === "bool") return refused("it does not depend on a mask");
    const nothing = numbersOf(found).every((score) => Math.abs(score) <= VISIBLE);
    return nothing ? { kind: "none" } : refused("it does not depend on a mask, and hides something");
  });

/**
 * Probes with all unknown lengths the same, and with all of them different and shorter, for what looks like one length may
 * be two: of queries and of keys. The latter need not be possible.
 */
async function probeTwice(
  sources: ValueSources,
  known: ReadonlyMap<string, number>,
  length: number,
  probeAt: (symbols: ReadonlyMap<string, number>) => Promise<MaskKind | undefined>,
): Promise<MaskKind> {
  const open = [...symbolsIn(sources)].filter((name) => !known.has(name));
  const together = await probeAt(new Map([...known, ...open.map((name) => [name, length] as const)]));
  if (!together) return refused("it cannot be computed on its own");
  if (open.length === 0 || together.kind === "refused") return together;
  // Either may be the longer one.
  for (const names of [open, open.toReversed()]) {
    const apart = await probeAt(new Map([...known, ...names.map((name, i) => [name, length - 3 - i] as const)]));
    if (apart?.kind === "refused") return apart;
  }
  return together;
}

function kindOf(found: Tensor, masks: ReturnType<typeof probeMasks>, input: Value): MaskKind {
  const at = readBroadcast(found, masks.batch, masks.sequence);
  if (!at) return refused(`its shape [${found.shape}] is not that of scores`);
  const seen = { shown: [Infinity, -Infinity], hidden: [Infinity, -Infinity] } as Record<
    "shown" | "hidden",
    [number, number]
  >;
  for (let row = 0; row < masks.batch; row++) {
    for (let query = 0; query < masks.sequence; query++) {
      for (let key = 0; key < masks.sequence; key++) {
        const range = seen[masks.data[row * masks.sequence + key] === 1 ? "shown" : "hidden"];
        const score = at(row, query, key);
        range[0] = Math.min(range[0], score);
        range[1] = Math.max(range[1], score);
      }
    }
  }
  const isNumber = found.dtype !== "bool";
  if (isNumber && seen.shown[0] >= -VISIBLE && seen.shown[1] <= VISIBLE) {
    if (seen.hidden[1] <= HIDDEN) return { kind: "padding", input, fill: seen.hidden[1], attended: undefined };
    if (seen.hidden[0] >= -VISIBLE && seen.hidden[1] <= VISIBLE) return { kind: "none" };
  }
  const uniformly = seen.shown[0] === seen.shown[1] && seen.hidden[0] === seen.hidden[1];
  if (!isNumber && uniformly && seen.shown[0] !== seen.hidden[0]) {
    return { kind: "padding", input, fill: undefined, attended: seen.shown[0] };
  }
  return refused(
    `with ${input.name} it does not hide exactly the masked keys (attended: ${seen.shown.join(" to ")}, masked: ${seen.hidden.join(" to ")})`,
  );
}

/** Rows in turn: all attended, padded on the right, padded on the left, scattered. */
function probeMasks(batch: number, sequence: number) {
  const data = new Uint8Array(batch * sequence);
  const third = Math.ceil(sequence / 3);
  for (let row = 0; row < batch; row++) {
    for (let key = 0; key < sequence; key++) {
      const shown = [true, key < sequence - third, key >= third, (key * 7 + row) % 3 !== 1];
      // A batch of one row shows every kind of padding at once, one of two or three begins with those that hide.
      const one =
        batch === 1 ? key >= 1 && (key * 7) % 5 !== 3 && key < sequence - 1 : shown[(row + Number(batch < 4)) % 4];
      data[row * sequence + key] = one ? 1 : 0;
    }
  }
  return { batch, sequence, data };
}

/** Reads a mask as if it were broadcast to [batch, heads, queries, keys]. */
function readBroadcast(mask: Tensor, batch: number, sequence: number) {
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
  const values = numbersOf(mask);
  return (row: number, query: number, key: number): number =>
    values[((b === 1 ? 0 : row) * q + (q === 1 ? 0 : query)) * k + (k === 1 ? 0 : key)] ?? Number.NaN;
}
