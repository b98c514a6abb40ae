import { probe, sourcesOf, symbolsIn } from "../../evaluate/probe.ts";
import { ints } from "../../graph/attribute.ts";
import { sameDim } from "../../graph/dim.ts";
import { MICROSOFT, type Node, type Value } from "../../graph/node.ts";
import { float32Scalar, int64s, numbersOf } from "../../graph/tensor.ts";
import { type HeadLayout, splitHeads } from "../../layout/heads.ts";
import { any, bind, op, product, sum } from "../../rewrite/pattern.ts";
import { type Question, type Refusal, type Rewrite, type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { knownNumbers, normalizeAxis } from "../../shapes/shape-rule.ts";
import { headColumns } from "../attention/head-columns.ts";

// rotary(x) = x · cos + rotate(x) · sin, rotate([a b]) = [−b a] for the halves of each head
//                                                            https://arxiv.org/abs/2104.09864, section 3.4.2

const x = any("x");
const onLastAxis = (node: Node) =>
  normalizeAxis(node.int("axis") ?? 0, node.output.shape?.length ?? 0) === (node.output.shape?.length ?? 0) - 1;
const rotated = op("Concat", [op("Neg", [bind("second", op("Slice", [x]))]), bind("first", op("Slice", [x]))], {
  where: onLastAxis,
});

export const rotaryEmbeddingFusion: Rule = rule("RotaryEmbedding", {
  roots: ["Add"],
  pattern: sum(product(x, any("cos")), product(rotated, any("sin"))),
  rewrite(rewrite) {
    const { root, value } = rewrite;
    const heads = splitHeads(value("x"), false);
    if (!heads) return refuse("the rotated tensor is not split into heads in a supported way", root);
    const half = heads.size / 2;
    const halves = [value("first"), value("second")];
    if (
      startOf(value("first")) !== 0 ||
      startOf(value("second")) !== half ||
      !halves.every(({ shape }) => shape?.at(-1) === half)
    ) {
      return refuse("the rotation is not between the two halves of whole heads", root);
    }
    return rotate(rewrite, heads, value("x"), [value("cos"), value("sin")], halvedTable);
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
    if (positions || rotatesPart || root.int("interleaved") === 1 || !sameDim(cos.shape?.at(-1), heads.size / 2)) {
      return refuse(
        "only rotations of the two halves of whole heads are supported (not interleaved, without position ids)",
        root,
      );
    }
    return rotate(rewrite, heads, x, [cos, sin], table);
  },
});

function rotate(
  rewrite: Rewrite,
  heads: HeadLayout,
  x: Value,
  tables: readonly [cos: Value, sin: Value],
  kind: Question<boolean>,
): Value | Refusal | undefined {
  const { root, ask, add, constant } = rewrite;
  if (!tables.every(({ shape }) => sameDim(shape?.at(-2), x.shape?.at(-2)))) {
    return refuse("the tables of cos and sin do not have one row per position", root);
  }
  const known = tables.map((each) => ask(kind, each));
  if (known.includes(undefined)) return undefined;
  if (known.includes(false)) return refuse(`the tables of cos and sin are not ${kind.name}`, root);
  const [cos, sin] = tables.map((each) => angles(rewrite, each, heads.size / 2));
  const position = constant(`${root.origin}/position`, int64s(0));
  const flat = add("RotaryEmbedding", [headColumns(rewrite, heads), position, cos, sin], { domain: MICROSOFT }).output;
  const target = constant(`${root.origin}/heads`, int64s(0, 0, heads.count, heads.size));
  const split = add("Reshape", [flat, target]).output;
  const moved = add("Transpose", [split], { attributes: { perm: ints(0, 2, 1, 3) } }).output;
  // Applies the scale after the rotation instead of before. The result is the same.
  if (heads.scale === 1 || x.dtype !== "float32")
    return heads.scale === 1 ? moved : refuse("the rotated tensor is scaled and not float32", root);
  return add("Mul", [moved, constant(`${root.origin}/scale`, float32Scalar(heads.scale))]).output;
}

/** Returns the start of a slice along the last axis; undefined for other nodes. */
function startOf({ producer, shape }: Value): number | undefined {
  const [, starts, , axes, steps] = producer?.inputs ?? [];
  const [start, axis] = [knownNumbers(starts), knownNumbers(axes)];
  if (steps && knownNumbers(steps)?.[0] !== 1) return undefined;
  const onLast = axis?.length === 1 && normalizeAxis(axis[0] ?? 0, shape?.length ?? 0) === (shape?.length ?? 0) - 1;
  return start?.length === 1 && onLast ? start[0] : undefined;
}

/** Asks whether a table [1 or batch, …, sequence, size] depends only on sizes and is the same for every text. */
const table = tableQuestion("computed from positions alone and the same for every text", 1);
/** Asks the same as `table`, and also whether the two halves of the last axis are equal. */
const halvedTable = tableQuestion(
  "computed from positions alone, the same for every text, and the same in both halves of a head",
  2,
);

function tableQuestion(name: string, repeats: number): Question<boolean> {
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
        const at = i % (length * size);
        return element === elements[at - (at % size) + (at % (size / repeats))];
      });
    },
  };
}

/** Returns the first `half` columns of a table [1 or batch, …, sequence, size] for the first text: [sequence, half]. */
function angles({ root, add, constant }: Rewrite, table: Value, half: number): Value {
  const bounds = [int64s(0, 0), int64s(1, half), int64s(0, -1)].map((each) => constant(`${root.origin}/half`, each));
  const sliced = add("Slice", [table, ...bounds]).output;
  return add("Reshape", [sliced, constant(`${root.origin}/table`, int64s(-1, half))]).output;
}
