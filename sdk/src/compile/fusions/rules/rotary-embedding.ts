import { probe, sourcesOf, symbolsIn } from "../../evaluate/probe.ts";
import { sameDim, sameShape } from "../../graph/dim.ts";
import { int, ints, MICROSOFT, type Node, type Value } from "../../graph/node.ts";
import { float32Scalar, int64s, numbersOf } from "../../graph/tensor.ts";
import { type HeadLayout, splitHeads } from "../../layout/heads.ts";
import { indexMap, SampleSizes } from "../../layout/index-map.ts";
import { any, bind, op, type Pattern, product, sum, through } from "../../rewrite/pattern.ts";
import { type Question, type Refusal, type Rewrite, type Rule, refuse, rule, UNANSWERED } from "../../rewrite/rule.ts";
import { normalizeAxis } from "../../shapes/shape-rule.ts";
import { headColumns } from "../attention/head-columns.ts";

/** Form of a rotation: which elements of a head form a pair, and which columns of the cos and sin tables have the angle of a pair. */
interface Pairing {
  readonly interleaved: boolean;
  /** Whether a table [1 or batch, …, sequence, columns] depends only on positions, and repeats its columns as this form needs. */
  readonly table: Question<boolean>;
  /** Returns start, end and step of the slice that takes one column for each pair from the table. */
  readonly columns: (pairs: number) => readonly [start: number, end: number, step: number];
}

const ONCE = "computed from positions alone, the same for every text";
const halves: Pairing = {
  interleaved: false,
  table: tableQuestion(`${ONCE}, and the same in both halves of a head`, (column, columns) => column % (columns / 2)),
  columns: (pairs) => [0, pairs, 1],
};
const pairs: Pairing = {
  interleaved: true,
  table: tableQuestion(`${ONCE}, and the same for both elements of a pair`, (column) => column - (column % 2)),
  columns: (pairs) => [0, 2 * pairs, 2],
};
/** Tables that have only one column for each pair. */
const single: Omit<Pairing, "interleaved"> = {
  table: tableQuestion(ONCE, (column) => column),
  columns: (pairs) => [0, pairs, 1],
};

/**
 * Makes a question about a table [1 or batch, …, sequence, columns]: whether it depends only on sizes, is the same for
 * every text, and repeats its columns.
 *
 * @param name completes the reason "the tables of cos and sin are not …" of a rotation that is not fused
 * @param original returns the column that a column must equal
 */
function tableQuestion(name: string, original: (column: number, columns: number) => number): Question<boolean> {
  return {
    name,
    async answer(graph, value) {
      const sources = sourcesOf(value);
      const rank = value.shape?.length ?? 0;
      if (!sources || sources.inputs.size > 0 || rank < 3 || rank > 4) return false;
      const symbols = new Map([...symbolsIn(sources)].map((symbol, i) => [symbol, 5 + 2 * i]));
      const found = await probe(graph, value, sources, symbols, new Map());
      const [batch = 0, ...inner] = found?.shape ?? [];
      const [length = 0, size = 0] = inner.slice(-2);
      if (!found || batch === 0 || inner.length !== rank - 1 || (rank === 4 && inner[0] !== 1)) return false;
      const elements = numbersOf(found);
      return elements.every((element, i) => {
        const [at, column] = [i % (length * size), i % size];
        return element === elements[at - column + original(column, size)];
      });
    },
  };
}

// rotary(x) = x · cos + rotate(x) · sin                     https://arxiv.org/abs/2104.09864, section 3.4.2
//
// rotate([a b]) = [−b a] for the halves of each head, or interleaved: rotate([a₀ b₀ a₁ b₁ …]) = [−b₀ a₀ −b₁ a₁ …]

const x = any("x");
const onLastAxis = (node: Node) =>
  normalizeAxis(node.int("axis") ?? 0, node.output.shape?.length ?? 0) === (node.output.shape?.length ?? 0) - 1;
/** Matches a pattern through Reshapes. An interleaved rotation adds an axis to both parts, joins them along this axis, and removes it. */
const view = (pattern: Pattern) => through(["Reshape"], pattern);
const part = (name: string) => bind(name, view(op("Slice", [x])));
const rotated = view(
  bind("joined", op("Concat", [view(op("Neg", [part("second")])), part("first")], { where: onLastAxis })),
);

export const rotaryEmbeddingFusion: Rule = rule("RotaryEmbedding", {
  roots: ["Add"],
  pattern: sum(product(x, any("cos")), product(bind("rotated", rotated), any("sin"))),
  rewrite(rewrite) {
    const { root, value } = rewrite;
    const [x, cos, sin] = [value("x"), value("cos"), value("sin")];
    const heads = splitHeads(x, false);
    if (!heads) return refuse("the rotated tensor is not split into heads in a supported way", root);
    const [joined, whole] = [value("joined"), value("rotated")];
    const step = joined === whole ? 1 : 2;
    const starts = [value("first"), value("second")].map((each) => startOf(each, x, step)).join();
    const isPairs = step === 2 && starts === "0,1" && joined.shape?.at(-1) === 2;
    const kind = step === 1 && starts === `0,${heads.size / 2}` ? halves : isPairs ? pairs : undefined;
    if (!kind || !sameShape(whole.shape, x.shape))
      return refuse("the rotation is neither between the two halves of whole heads nor between neighbors", root);
    return rotate(rewrite, heads, x, [cos, sin], kind);
  },
});

/**
 * Replaces the standard RotaryEmbedding operator (opset 23). Its inputs are heads [batch, heads, sequence, size] and
 * tables [1 or batch, sequence, size / 2].
 */
export const standardRotaryEmbeddingFusion: Rule = rule("RotaryEmbedding", {
  roots: ["RotaryEmbedding"],
  rewrite(rewrite) {
    const { root } = rewrite;
    const [x, cos, sin, positions] = root.inputs;
    const heads = x && splitHeads(x, false);
    if (!x || !cos || !sin || !heads)
      return refuse("the rotated tensor is not split into heads in a supported way", root);
    const rotatesPart = (root.int("rotary_embedding_dim") ?? 0) !== 0;
    if (positions || rotatesPart || !sameDim(cos.shape?.at(-1), heads.size / 2))
      return refuse("only rotations of whole heads without position ids are supported", root);
    return rotate(rewrite, heads, x, [cos, sin], { ...(root.int("interleaved") === 1 ? pairs : halves), ...single });
  },
});

function rotate(
  rewrite: Rewrite,
  heads: HeadLayout,
  x: Value,
  tables: readonly [cos: Value, sin: Value],
  { interleaved, table, columns }: Pairing,
): Value | Refusal {
  const { root, ask, add, constant } = rewrite;
  if (!tables.every(({ shape }) => sameDim(shape?.at(-2), x.shape?.at(-2)))) {
    return refuse("the tables of cos and sin do not have one row per position", root);
  }
  const known = tables.map((each) => ask(table, each));
  if (known.includes(undefined)) return UNANSWERED;
  if (known.includes(false)) return refuse(`the tables of cos and sin are not ${table.name}`, root);
  const [cos, sin] = tables.map((each) => angles(rewrite, each, columns(heads.size / 2)));
  const position = constant(`${root.origin}/position`, int64s(0));
  const flat = add("RotaryEmbedding", [headColumns(rewrite, heads), position, cos, sin], {
    domain: MICROSOFT,
    attributes: interleaved ? { interleaved: int(1) } : {},
  }).output;
  const target = constant(`${root.origin}/heads`, int64s(0, 0, heads.count, heads.size));
  const split = add("Reshape", [flat, target]).output;
  const moved = add("Transpose", [split], { attributes: { perm: ints(0, 2, 1, 3) } }).output;
  // Applies the scale after the rotation instead of before. The result is the same.
  if (heads.scale === 1 || x.dtype !== "float32")
    return heads.scale === 1 ? moved : refuse("the rotated tensor is scaled and not float32", root);
  return add("Mul", [moved, constant(`${root.origin}/scale`, float32Scalar(heads.scale))]).output;
}

/**
 * Returns the first column of a slice of x that takes every `step`-th column of each row. Returns undefined for other
 * values.
 */
function startOf(slice: Value, x: Value, step: number): number | undefined {
  const map = indexMap(slice, x, new SampleSizes());
  const [start, width] = [map?.index[0], x.shape?.at(-1)];
  if (!map || start === undefined || typeof width !== "number" || map.scale !== 1) return undefined;
  const columns = width / 2;
  const isSlice = map.index.every((from, i) => from === Math.floor(i / columns) * width + start + step * (i % columns));
  return isSlice ? start : undefined;
}

/** Returns columns of a table [1 or batch, …, sequence, columns] for the first text: [sequence, pairs]. */
function angles(
  { root, add, constant }: Rewrite,
  table: Value,
  [start, end, step]: readonly [start: number, end: number, step: number],
): Value {
  const bounds = [int64s(0, start), int64s(1, end), int64s(0, -1), ...(step === 1 ? [] : [int64s(1, step)])];
  const sliced = add("Slice", [table, ...bounds.map((each) => constant(`${root.origin}/angles`, each))]).output;
  return add("Reshape", [sliced, constant(`${root.origin}/table`, int64s(-1, (end - start) / step))]).output;
}
