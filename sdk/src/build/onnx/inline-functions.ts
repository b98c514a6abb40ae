import { freeNames } from "./from-onnx.ts";
import type { AttributeProto, GraphProto, ModelProto, NodeProto } from "./proto.ts";

type Functions = ReadonlyMap<string, ModelProto["functions"][number]>;

/** Functions call functions; a file whose calls nest deeper than this calls itself. */
const MAX_DEPTH = 32;

/**
 * The graph with calls of local functions replaced by the functions' nodes. A call stays when the function has sub-graphs
 * or was written for other operator versions than the model: it then runs as it is and is opaque to rewriting.
 */
export function inlineFunctions(model: ModelProto, graph: GraphProto): GraphProto {
  const functions: Functions = new Map(
    model.functions.filter((fn) => isInlinable(model, fn)).map((fn) => [keyOf(fn.domain, fn.name, fn.overload), fn]),
  );
  return functions.size === 0 ? graph : { ...graph, node: graph.node.flatMap((node) => expand(node, functions, 0)) };
}

const keyOf = (domain = "", name = "", overload = "") => JSON.stringify([domain, name, overload]);

function isInlinable(model: ModelProto, { node, opsetImport }: ModelProto["functions"][number]): boolean {
  const versions = new Map(model.opsetImport.map(({ domain = "", version }) => [domain, version]));
  return (
    node.every(({ attribute }) => attribute.every(({ g, graphs }) => !g && graphs.length === 0)) &&
    opsetImport.every(({ domain = "", version }) => !versions.has(domain) || versions.get(domain) === version)
  );
}

function expand(call: NodeProto, functions: Functions, depth: number): NodeProto[] {
  const fn = functions.get(keyOf(call.domain, call.opType, call.overload));
  if (!fn || depth > MAX_DEPTH || freeNames(call).size > 0) return [call];
  const prefix = `${call.name || call.output[0]}/`;
  const names = new Map<string, string>([
    ...fn.input.map((name, i): [string, string] => [name, call.input[i] ?? ""]),
    ...fn.output.map((name, i): [string, string] => [name, call.output[i] ?? ""]),
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
    .flatMap((node) => expand(node, functions, depth + 1));
}

/** An attribute that refers to one of the call's; absent when the call leaves it out. */
function resolve(attribute: AttributeProto, given: ReadonlyMap<string | undefined, AttributeProto>): AttributeProto[] {
  if (!attribute.refAttrName) return [attribute];
  const value = given.get(attribute.refAttrName);
  return value ? [{ ...value, name: attribute.name ?? "" }] : [];
}
