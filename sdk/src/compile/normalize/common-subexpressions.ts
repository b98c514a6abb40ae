import type { Graph } from "../graph/graph.ts";
import type { Node, Value } from "../graph/node.ts";
import { isRandom } from "../graph/operators.ts";
import { reading, type Tensor } from "../graph/tensor.ts";

/** Merges equal constants, and nodes with the same operator, attributes and inputs. */
export function mergeCommonSubexpressions(graph: Graph): void {
  mergeConstants(graph);
  const numbers = new Map<Value, number>();
  const numberOf = (value: Value | undefined) => {
    if (!value) return -1;
    const known = numbers.get(value) ?? numbers.size;
    numbers.set(value, known);
    return known;
  };
  const seen = new Map<string, Node>();
  for (const node of graph.sorted()) {
    if (node.captures.length > 0 || Object.values(node.attributes).some(({ kind }) => kind === "other")) continue;
    const key = JSON.stringify([
      node.domain,
      node.opType,
      node.inputs.map(numberOf),
      attributesKey(node),
      node.outputs.length,
    ]);
    const twin = seen.get(key);
    if (!twin || isRandom(node)) seen.set(key, node);
    else {
      node.outputs.forEach((output, i) => {
        const same = twin.outputs[i];
        if (output && same) graph.replace(output, same);
      });
    }
  }
  graph.prune();
}

const attributesKey = ({ attributes }: Node) =>
  Object.entries(attributes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { kind, value }]) => [
      name,
      kind,
      kind === "tensor" ? { ...value, data: [...value.data] } : String(value),
    ]);

function mergeConstants(graph: Graph): void {
  const seen = new Map<string, Value[]>();
  for (const value of graph.constants()) {
    if (!value.constant) continue;
    const key = sampleOf(value.constant);
    const twin = seen.get(key)?.find((other) => isSame(other.constant as Tensor, value.constant as Tensor));
    if (twin) graph.replace(value, twin);
    else seen.set(key, [...(seen.get(key) ?? []), value]);
  }
}

/** Number of leading bytes that are compared first. Two different constants usually differ in these bytes. */
const SAMPLE = 32;

const samples = new WeakMap<Tensor, string>();

/**
 * Returns the type, shape and first bytes of a tensor as a key. Caches the key, because each access to a lazy tensor
 * loads or computes its bytes again.
 */
function sampleOf(tensor: Tensor): string {
  const first = () => reading(tensor, ({ data }) => data.subarray(0, SAMPLE).join());
  const sample = samples.get(tensor) ?? `${tensor.dtype}[${tensor.shape}]${first()}`;
  samples.set(tensor, sample);
  return sample;
}

const isSame = (a: Tensor, b: Tensor) =>
  a === b || reading(a, ({ data }) => reading(b, (other) => Buffer.compare(data, other.data) === 0));
