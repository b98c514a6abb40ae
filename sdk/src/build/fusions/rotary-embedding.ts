import { probe, sourcesOf, symbolsIn } from "../evaluate/probe.ts";
import { ints } from "../graph/attribute.ts";
import { sameDim } from "../graph/dim.ts";
import { MICROSOFT, type Node, type Value } from "../graph/graph.ts";
import { int64s, numbersOf } from "../graph/tensor.ts";
import { splitHeads } from "../layout/heads.ts";
import { any, bind, op, product, sum } from "../rewrite/pattern.ts";
import { type Question, type Rewrite, type Rule, refuse, rule } from "../rewrite/rule.ts";
import { normaliseAxis, numbers } from "../shapes/rule.ts";
import { headColumns } from "./head-columns.ts";

// rotary(x) = x · cos + rotate(x) · sin, rotate([a b]) = [−b a] for the halves of each head
//                                                            https://arxiv.org/abs/2104.09864, section 3.4.2

const x = any("x");
const onLastAxis = (node: Node) =>
  normaliseAxis(node.int("axis") ?? 0, node.output.shape?.length ?? 0) === (node.output.shape?.length ?? 0) - 1;
const rotated = op("Concat", [op("Neg", [bind("second", op("Slice", [x]))]), bind("first", op("Slice", [x]))], {
  where: onLastAxis,
});

export const rotaryEmbedding: Rule = rule("RotaryEmbedding", {
  roots: ["Add"],
  pattern: sum(product(x, any("cos")), product(rotated, any("sin"))),
  rewrite(rewrite) {
    const { root, value, ask, add, constant } = rewrite;
    const heads = splitHeads(value("x"), false);
    if (!heads) return refuse("what is rotated is not split into heads in a known way", root);
    const half = heads.size / 2;
    if (startOf(value("first")) !== 0 || startOf(value("second")) !== half || heads.scale !== 1) {
      return refuse("it does not rotate the halves of whole heads", root);
    }
    if (![value("cos"), value("sin")].every(({ shape }) => sameDim(shape?.at(-2), value("x").shape?.at(-2))))
      return refuse("there is not one angle for each position", root);
    const known = [value("cos"), value("sin")].map((table) => ask(halvedTable, table));
    if (known.includes(undefined)) return undefined;
    if (known.includes(false))
      return refuse("its angles depend on more than the position, or differ between the halves of a head", root);
    const [cos, sin] = [value("cos"), value("sin")].map((table) => firstHalf(rewrite, table, half));
    const columns = headColumns(rewrite, heads);
    const position = constant(`${root.origin}/position`, int64s(0));
    const flat = add("RotaryEmbedding", [columns, position, cos, sin], { domain: MICROSOFT }).output;
    const split = add("Reshape", [
      flat,
      constant(`${root.origin}/heads`, int64s(0, 0, heads.count, heads.size)),
    ]).output;
    return add("Transpose", [split], { attributes: { perm: ints(0, 2, 1, 3) } }).output;
  },
});

/** Where a slice of the last axis begins. */
function startOf({ producer, shape }: Value): number | undefined {
  const [, starts, , axes] = producer?.inputs ?? [];
  const [start, axis] = [numbers(starts), numbers(axes)];
  const onLast = axis?.length === 1 && normaliseAxis(axis[0] ?? 0, shape?.length ?? 0) === (shape?.length ?? 0) - 1;
  return start?.length === 1 && onLast ? start[0] : undefined;
}

/** Whether a table [1 or batch, 1, sequence, size] is the same in every batch and in both halves of its last axis. */
const halvedTable: Question<boolean> = {
  name: "rotary table",
  async answer(graph, value) {
    const sources = sourcesOf(value);
    if (!sources || sources.inputs.size > 0 || value.shape?.length !== 4) return false;
    const symbols = new Map([...symbolsIn(sources)].map((name, i) => [name, 5 + 2 * i]));
    const found = await probe(graph, value, sources, symbols, new Map());
    const [batch = 0, one = 0, length = 0, size = 0] = found?.shape ?? [];
    if (!found || one !== 1 || batch === 0) return false;
    const elements = numbersOf(found);
    return elements.every((element, i) => {
      const at = i % (length * size);
      return element === elements[at - (at % size) + (at % (size / 2))];
    });
  },
};

/** The table [1 or batch, 1, sequence, size] as [sequence, size / 2]. */
function firstHalf({ root, add, constant }: Rewrite, table: Value, half: number): Value {
  const [from, to, axes] = [int64s(0, 0), int64s(1, half), int64s(0, 3)].map((each) =>
    constant(`${root.origin}/half`, each),
  );
  const sliced = add("Slice", [table, from, to, axes]).output;
  return add("Reshape", [sliced, constant(`${root.origin}/table`, int64s(-1, half))]).output;
}
