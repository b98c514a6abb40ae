import { type Dim, type Shape, sameDim } from "../../graph/dim.ts";
import { ints, type Node, type Value } from "../../graph/node.ts";
import { elementCount } from "../../graph/tensor.ts";
import { type IndexMap, indexMap, movementSources, SampleSizes } from "../../layout/index-map.ts";
import { any, bind, op } from "../../rewrite/pattern.ts";
import { type Rewrite, type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { isElementwise } from "../../shapes/rules/elementwise.ts";

/** Returns the order of axes in which the last two are swapped. */
const lastAxesSwapped = (rank: number): number[] =>
  Array.from({ length: rank }, (_, i) => (i < rank - 2 ? i : 2 * rank - 3 - i));

export const transposed = ({ add }: Rewrite, value: Value, perm: readonly number[]): Value =>
  add("Transpose", [value], { attributes: { perm: ints(...perm) } }).output;

/** Adds a Transpose that swaps the last two axes. The value's shape must be known. */
export const swapLastAxes = (rewrite: Rewrite, value: Value): Value =>
  transposed(rewrite, value, lastAxesSwapped(value.shape?.length ?? 0));

/** Merges two Transposes: Transpose(Transpose(x, p), q) = Transpose(x, p∘q). */
export const mergeTransposesRule: Rule = rule("transpose", {
  roots: ["Transpose"],
  pattern: op("Transpose", [bind("inner", op("Transpose", [any("x")]))]),
  shared: ["inner"],
  check({ root, value }) {
    const [inner, outer] = [value("inner").producer?.ints("perm"), root.ints("perm")];
    return inner && outer?.map((axis) => inner[axis] ?? 0);
  },
  rewrite: (rewrite, perm) => transposed(rewrite, rewrite.value("x"), perm),
});

/**
 * Moves a transpose from a MatMul of computed tensors to its operands: MatMul(a, b)ᵀ = MatMul(bᵀ, aᵀ). Some exporters
 * compute scores as keys · queriesᵀ and transpose them. A MatMul of attention probabilities and values stays as it is.
 */
export const transposedMatMulRule: Rule = rule("transposed MatMul", {
  roots: ["Transpose"],
  pattern: op("Transpose", [bind("matMul", op("MatMul", [any("a"), any("b")]))]),
  check({ root, value }) {
    const rank = root.output.shape?.length ?? 0;
    const order = lastAxesSwapped(rank);
    const swaps = root.ints("perm")?.every((axis, i) => axis === order[i]);
    const areComputed = [value("a"), value("b")].every(
      ({ isConstant, shape }) => !isConstant && shape?.length === rank,
    );
    return swaps && areComputed && !isProbabilities(value("a"));
  },
  rewrite: (rewrite) =>
    rewrite.add("MatMul", [swapLastAxes(rewrite, rewrite.value("b")), swapLastAxes(rewrite, rewrite.value("a"))])
      .output,
});

function isProbabilities({ producer: node }: Value): boolean {
  if (!node || node.is("Softmax")) return node !== undefined;
  const inputs = node.is("Where") || node.is("Cast") ? node.inputs : [];
  return inputs.some((input) => input && isProbabilities(input));
}

/** Maximum number of nodes between Transposes. An activation with a residual sum has fewer. */
const MAX_NODES = 32;

/**
 * Removes Transposes around elementwise operators: Transpose(f(Transpose(x), Transpose(y))) = f(x, y), if the outer
 * Transpose undoes the inner ones. f may be several nodes, if nothing else reads their outputs.
 */
export const betweenTransposesRule: Rule = rule("between transposes", {
  roots: ["Transpose"],
  check({ root }) {
    const perm = root.ints("perm");
    const [end] = root.inputs;
    const region = new Set<Node>();
    const sources = new Map<Value, Value>();
    if (!perm || !end?.producer || !isElementwise(end.producer)) return undefined;
    return collect(end, perm, region, sources) && { end, region, sources };
  },
  rewrite({ graph, root, add }, { end, region, sources }) {
    const isInside = ({ output }: Node) =>
      !graph.isOutput(output) && [...output.users].every((user) => user === root || region.has(user));
    const shared = [...region].find((node) => !isInside(node));
    if (shared) return refuse(`${shared.output.name} is also read outside of the two Transposes`, shared);
    const moved = (value: Value): Value => {
      const known = sources.get(value);
      if (known) return known;
      const { opType, inputs, attributes } = value.producer as Node;
      const { output: result } = add(
        opType,
        inputs.map((input) => input && moved(input)),
        { attributes },
      );
      sources.set(value, result);
      return result;
    };
    return moved(end);
  },
});

/**
 * Collects in `region` the elementwise nodes that compute a value. These nodes may read only scalars and the outputs of Transposes that
 * `perm` undoes. Maps each such scalar to itself and each such output to the input of its Transpose, in `sources`. Returns false if the
 * nodes read any other value.
 */
function collect(value: Value, perm: readonly number[], region: Set<Node>, sources: Map<Value, Value>): boolean {
  const node = value.producer;
  if (sources.has(value) || (node && region.has(node))) return true;
  if (value.constant && elementCount(value.constant.shape) === 1) sources.set(value, value);
  else if (node?.is("Transpose") && node.inputs[0] && undoes(perm, node.ints("perm")))
    sources.set(value, node.inputs[0]);
  else if (node && region.size < MAX_NODES && isElementwise(node)) {
    region.add(node);
    return node.inputs.every((input) => !input || collect(input, perm, region, sources));
  }
  return sources.has(value);
}

const undoes = (outer: readonly number[], inner: readonly number[] | undefined) =>
  inner?.length === outer.length && outer.every((axis, i) => inner[axis] === i);

/**
 * Replaces a chain of movements (Reshape, Transpose, …) by one Transpose if the effect is the same. Some exporters reshape
 * keys to three axes, transpose them and reshape them back.
 */
export const singleTransposeRule: Rule = rule("single transpose", {
  roots: ["Reshape"],
  check({ root }) {
    // Skips the input of the Reshape, because a Reshape alone is not a Transpose.
    for (const source of movementSources(root.output).slice(2)) {
      const perm = permutation(source, root.output);
      if (perm) return { source, perm };
    }
    return undefined;
  },
  rewrite: (rewrite, { source, perm }) => transposed(rewrite, source, perm),
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
