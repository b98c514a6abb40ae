import { ints } from "../../graph/attribute.ts";
import { type Dim, type Shape, sameDim } from "../../graph/dim.ts";
import type { Value } from "../../graph/node.ts";
import { type IndexMap, indexMap, movementSources, SampleSizes } from "../../layout/index-map.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";

/**
 * Replaces a chain of movements (Reshape, Transpose, …) by one Transpose if the effect is the same. Some exporters reshape
 * keys to three axes, transpose them and reshape them back.
 */
export const singleTransposeRule: Rule = rule("single transpose", {
  roots: ["Reshape"],
  rewrite({ root, add }) {
    const [, ...sources] = movementSources(root.output);
    const last = sources.at(-1);
    if (!last || sources.length < 2) return undefined;
    for (const source of sources.slice(1)) {
      const perm = permutation(source, root.output);
      if (perm) return add("Transpose", [source], { attributes: { perm: ints(...perm) } }).output;
    }
    return undefined;
  },
});

/** Maximum number of axes. With more axes, there are too many permutations to try. */
const MAX_RANK = 6;
/** Maximum number of elements. Movements of larger tensors stay as they are. */
const MAX_ELEMENTS = 1 << 18;

function permutation(from: Value, to: Value): number[] | undefined {
  const rank = from.shape?.length ?? 0;
  if (!from.shape || to.shape?.length !== rank || rank < 3 || rank > MAX_RANK) return undefined;
  const candidates = [...permutations(from.shape.length)].filter((perm) =>
    fits(from.shape as Shape, to.shape as Shape, perm),
  );
  if (candidates.length === 0) return undefined;
  const sizes = new SampleSizes();
  const map = indexMap(to, from, sizes, MAX_ELEMENTS);
  const shape = sizes.of(from.shape);
  return map && shape && map.scale === 1 ? candidates.find((perm) => isTransposed(map, shape, perm)) : undefined;
}

const fits = (from: Shape, to: Shape, perm: readonly number[]) =>
  perm.every((axis, i) => sameDim(from[axis] as Dim, to[i]));

function isTransposed({ shape, index }: IndexMap, from: readonly number[], perm: readonly number[]): boolean {
  const strides = from.map((_, axis) => from.slice(axis + 1).reduce((product, size) => product * size, 1));
  return index.every((source, i) => {
    let rest = i;
    let expected = 0;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const size = shape[axis] ?? 1;
      expected += (rest % size) * (strides[perm[axis] ?? 0] ?? 0);
      rest = Math.floor(rest / size);
    }
    return source === expected;
  });
}

function* permutations(rank: number, chosen: readonly number[] = []): Generator<number[]> {
  if (chosen.length === rank) yield [...chosen];
  for (let axis = 0; axis < rank; axis++) if (!chosen.includes(axis)) yield* permutations(rank, [...chosen, axis]);
}
