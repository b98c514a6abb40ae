import { BertEdgeError } from "../../artifact/error.ts";
import { type Shape, symbolicDim } from "../graph/dim.ts";
import { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { verifyGraph } from "../graph/verify-graph.ts";
import type { ModelProto, NodeProto, ValueInfoProto } from "../proto/onnx-messages.ts";
import { attributesOf, constantOf } from "./attributes.ts";
import { freeNames, inlineFunctions, innerNames } from "./inline-functions.ts";
import { dataTypeOf, tensorOf } from "./tensor-proto.ts";

/**
 * Since this IR version, an initializer with the name of an input is only the input's default value. In older versions,
 * such an initializer is a constant.
 */
const IR_VERSION_WITH_DEFAULTS = 4n;

/**
 * Converts a decoded ONNX file to a graph. Inlines local functions if possible. Keeps sub-graphs unchanged, but records
 * which outer values they read. Does not read weights that are still in a file.
 *
 * @throws BertEdgeError `onnx_invalid` or `graph_invalid` if the file is not a valid model
 */
export function fromOnnx(model: ModelProto): Graph {
  if (!model.graph) {
    throw new BertEdgeError("onnx_invalid", "The file has no graph.", {
      hint: "Check that the file is an ONNX model.",
    });
  }
  const proto = inlineFunctions(model, model.graph);
  const graph = new Graph(proto.name ?? "");
  for (const { domain = "", version = 0n } of model.opsetImport) {
    graph.opsets.set(domain === "ai.onnx" ? "" : domain, Number(version));
  }
  const values = new Map<string, Value>();
  const define = (name: string, value: Value, by: string) => {
    if (values.has(name)) throw invalid(`${by} defines ${name}, which is already defined`);
    values.set(name, value);
  };

  const inputNames = new Set(proto.input.map(({ name = "" }) => name));
  const withDefaults = (model.irVersion ?? 0n) >= IR_VERSION_WITH_DEFAULTS;
  const initialized = new Set(proto.initializer.map(({ name = "" }) => name));
  for (const declaration of proto.input) {
    const name = declaration.name ?? "";
    if (initialized.has(name) && !withDefaults) continue;
    const dtype = dataTypeOf(declaration.type?.tensorType?.elemType);
    const value = graph.input(name, { dtype, shape: declaredShape(declaration) });
    graph.declarations.set(value, declaration);
    define(name, value, "The list of inputs");
  }
  for (const tensor of proto.initializer) {
    const name = tensor.name ?? "";
    const input = withDefaults && inputNames.has(name) ? values.get(name) : undefined;
    if (input) {
      graph.defaults.set(input, tensor);
      continue;
    }
    const constant = tensorOf(tensor);
    define(name, constant ? graph.constant(name, constant) : graph.opaque(name, tensor), "An initializer");
  }
  for (const { values: stored } of proto.sparseInitializer) {
    throw invalid(
      `Tensor ${stored?.name ?? "(without a name)"} is sparse, which is not supported`,
      "Export the model with dense tensors.",
    );
  }

  const operators = proto.node.filter((node) => {
    const constant = constantOf(node);
    const name = node.output[0] ?? "";
    if (constant) define(name, graph.constant(name, constant), describe(node));
    return !constant;
  });
  const nodes = operators.map((node) => {
    const added = graph.add(node.opType ?? "", [], {
      name: node.name || `${node.opType}:${node.output[0] ?? ""}`,
      domain: node.domain ?? "",
      attributes: attributesOf(node),
      outputs: node.output,
      proto: node,
    });
    node.output.forEach((name, i) => {
      const value = added.outputs[i];
      if (value) define(name, value, describe(node));
    });
    return added;
  });
  graph.reserve(operators.flatMap((node) => [...innerNames(node)]));
  const resolve = (name: string, reader: string): Value => {
    const value = values.get(name);
    if (value) return value;
    throw invalid(`${reader} reads ${name}, which is not defined`);
  };
  nodes.forEach((node, i) => {
    const from = operators[i] as NodeProto;
    const captured = [...freeNames(from)].map((name) => resolve(name, `A sub-graph of ${describe(from)}`));
    graph.setInputs(
      node,
      from.input.map((name) => (name === "" ? undefined : resolve(name, describe(from)))),
      captured,
    );
  });
  for (const declaration of proto.output) {
    const name = declaration.name ?? "";
    graph.outputs.push({ name, value: resolve(name, "The list of outputs"), declaration });
  }
  verifyGraph(graph);
  return graph;
}

const invalid = (what: string, hint = "The file is not a valid model; export it again.") =>
  new BertEdgeError("graph_invalid", `${what}.`, { hint });

const describe = ({ name, opType, output }: NodeProto) => `Node ${name || output[0]} (${opType})`;

/**
 * Returns the declared shape of an input. Dynamic sizes become symbols with the file's names, so that equal names mean
 * equal sizes. The exception is a name that occurs twice in one shape ("N", "N"): it is a placeholder, and each of
 * these sizes gets a symbol of its own.
 */
function declaredShape({ name, type }: ValueInfoProto): Shape | undefined {
  const dims = type?.tensorType?.shape?.dim;
  const isName = (param: string) => dims?.filter(({ dimParam }) => dimParam === param).length === 1;
  return dims?.map(({ dimValue, dimParam }, axis) => {
    if (dimValue !== undefined && dimValue >= 0n) return Number(dimValue);
    return symbolicDim(dimParam && isName(dimParam) ? dimParam : `${name}.${axis}`);
  });
}
