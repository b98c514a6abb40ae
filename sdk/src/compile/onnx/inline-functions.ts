import { BertEdgeError } from "../../artifact/error.ts";
import type { AttributeProto, GraphProto, ModelProto, NodeProto } from "../proto/onnx-messages.ts";

type Functions = ReadonlyMap<string, ModelProto["functions"][number]>;

/** Maximum depth of nested calls. Deeper calls are refused, because the function is probably recursive. */
const MAX_DEPTH = 32;

/**
 * Maximum number of inlined nodes. The limit stops files in which each function calls the next one twice, because their
 * number of nodes grows exponentially.
 */
const MAX_NODES = 1 << 18;

/**
 * Replaces calls of local functions by the functions' nodes. Some calls stay: calls of functions that have sub-graphs,
 * and of functions whose operator set versions differ from the model's. Rewrite rules ignore these calls.
 *
 * @throws BertEdgeError `graph_invalid` for recursive functions, and for functions that expand to too many nodes
 */
export function inlineFunctions(model: ModelProto, graph: GraphProto): GraphProto {
  const functions: Functions = new Map(
    model.functions.filter((fn) => isInlinable(model, fn)).map((fn) => [keyOf(fn.domain, fn.name, fn.overload), fn]),
  );
  if (functions.size === 0) return graph;
  const budget = { nodes: MAX_NODES };
  return { ...graph, node: graph.node.flatMap((node) => expand(node, functions, 0, budget)) };
}

const keyOf = (domain = "", name = "", overload = "") => JSON.stringify([domain, name, overload]);

const domainOf = (domain = "") => (domain === "ai.onnx" ? "" : domain);

function isInlinable(model: ModelProto, { node, opsetImport }: ModelProto["functions"][number]): boolean {
  const versions = new Map(model.opsetImport.map(({ domain, version }) => [domainOf(domain), version]));
  const local = new Set(model.functions.map(({ domain }) => domainOf(domain)));
  return (
    node.every(({ attribute }) => attribute.every(({ g, graphs }) => !g && graphs.length === 0)) &&
    opsetImport.every(({ domain, version }) => {
      const known = versions.get(domainOf(domain));
      return known === undefined ? local.has(domainOf(domain)) : known === version;
    })
  );
}

function expand(call: NodeProto, functions: Functions, depth: number, budget: { nodes: number }): NodeProto[] {
  const fn = functions.get(keyOf(call.domain, call.opType, call.overload));
  if (!fn || freeNames(call).size > 0) return [call];
  budget.nodes -= fn.node.length;
  if (depth > MAX_DEPTH || budget.nodes < 0) {
    throw new BertEdgeError(
      "graph_invalid",
      `Function ${fn.name} cannot be inlined: it is recursive, or its calls expand to more than ${MAX_NODES} nodes.`,
      {
        hint: "The file is not a valid model; export it again.",
      },
    );
  }
  const prefix = `${call.name || call.output[0]}/`;
  const names = new Map<string, string>([
    ...fn.input.map((name, i): [string, string] => [name, call.input[i] ?? ""]),
    // An output that the call leaves out still needs a name, because the function itself may read it.
    ...fn.output.map((name, i): [string, string] => [name, call.output[i] || prefix + name]),
  ]);
  const rename = (name: string) => (name === "" ? "" : (names.get(name) ?? prefix + name));
  const given = new Map([...fn.attributeProto, ...call.attribute].map((attribute) => [attribute.name, attribute]));
  return fn.node
    .map((node) => ({
      ...node,
      name: prefix + (node.name || node.output[0]),
      input: node.input.map(rename),
      output: node.output.map(rename),
      attribute: node.attribute.flatMap((attribute) => resolve(attribute, given)),
    }))
    .flatMap((node) => expand(node, functions, depth + 1, budget));
}

/**
 * Fills in an attribute that refers to a parameter of the function: its value is looked up in `given`. Drops the
 * attribute if `given` has no value for this parameter.
 */
function resolve(attribute: AttributeProto, given: ReadonlyMap<string | undefined, AttributeProto>): AttributeProto[] {
  if (!attribute.refAttrName) return [attribute];
  const value = given.get(attribute.refAttrName);
  return value ? [{ ...value, name: attribute.name ?? "" }] : [];
}

/** Returns the names of the values that a node's sub-graphs read from the enclosing graphs. */
export function freeNames(node: NodeProto): Set<string> {
  const free = new Set<string>();
  for (const { g, graphs } of node.attribute) {
    for (const graph of g ? [g, ...graphs] : graphs) for (const name of freeNamesOf(graph)) free.add(name);
  }
  return free;
}

/** Lists the names of the nodes and values inside a node's sub-graphs. */
export function* innerNames(node: NodeProto): Generator<string> {
  for (const { g, graphs } of node.attribute) {
    for (const graph of g ? [g, ...graphs] : graphs) {
      for (const { name = "" } of [...graph.input, ...graph.initializer]) yield name;
      for (const inner of graph.node) yield* [inner.name ?? "", ...inner.output, ...innerNames(inner)];
    }
  }
}

function freeNamesOf(graph: GraphProto): Set<string> {
  const own = new Set([...graph.input, ...graph.initializer].map(({ name = "" }) => name));
  for (const { output } of graph.node) for (const name of output) own.add(name);
  const read = graph.node.flatMap((node) => [...node.input, ...freeNames(node)]);
  const returned = graph.output.map(({ name = "" }) => name);
  return new Set([...read, ...returned].filter((name) => name !== "" && !own.has(name)));
}
