import type { Node, Value } from "../../graph/node.ts";
import { elementCount } from "../../graph/tensor.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";
import { isElementwise } from "../../shapes/rules/elementwise.ts";

/** Maximum number of nodes between Transposes. An activation with a residual sum has fewer. */
const MAX_NODES = 32;

/**
 * Removes Transposes around elementwise operators: Transpose(f(Transpose(x), Transpose(y))) = f(x, y), if the outer
 * Transpose undoes the inner ones. f may be several nodes, if nothing else reads their outputs.
 */
export const betweenTransposesRule: Rule = rule("between transposes", {
  roots: ["Transpose"],
  rewrite({ graph, root, add }) {
    const perm = root.ints("perm");
    const [end] = root.inputs;
    if (!perm || !end?.producer || !isElementwise(end.producer)) return undefined;
    const region = new Set<Node>();
    const sources = new Map<Value, Value>();
    if (!collect(end, perm, region, sources)) return undefined;
    const isInside = ({ output }: Node) =>
      !graph.isOutput(output) && [...output.users].every((user) => user === root || region.has(user));
    if (![...region].every(isInside)) return undefined;
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
 * Collects the elementwise nodes behind a value in `region`, and maps the values before them to their originals: the
 * input of a Transpose that `perm` undoes, or a scalar. Returns false if another value is
 * among them.
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
