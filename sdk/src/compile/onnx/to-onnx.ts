import type { Graph } from "../graph/graph.ts";
import type { Attribute, Node, Value } from "../graph/node.ts";
import type { DataType } from "../graph/tensor.ts";
import { encodeModel, type PartialMessage } from "../proto/encode-model.ts";
import type { AttributeProto, ModelProto, NodeProto, TensorProto, ValueInfoProto } from "../proto/onnx-messages.ts";
import { attributeTypes } from "./attributes.ts";
import { dataTypes, toTensorProto } from "./tensor-proto.ts";

/**
 * IR version of written files: the first version with all fields that are written here. onnxruntime 1.10 and newer can
 * read this version.
 */
const IR_VERSION = 8n;

/**
 * Converts a graph to an ONNX model.
 *
 * @param envelope the original model, whose producer, metadata and functions are kept
 */
export function toOnnx(graph: Graph, envelope: PartialMessage<ModelProto> = {}): PartialMessage<ModelProto> {
  const nodes = graph.sorted();
  const names = publicNames(graph, nodes);
  const nameOf = (value: Value | undefined) => (value ? (names.get(value) ?? value.name) : "");
  const constants = [...graph.constants()].map(
    (value): PartialMessage<TensorProto> =>
      value.constant ? toTensorProto(nameOf(value), value.constant) : { ...value.opaque, name: nameOf(value) },
  );
  const written = [...nodes.map((node) => toNode(node, nameOf)), ...aliases(graph, nameOf)];
  const domains = new Set(written.map(({ domain = "" }) => domain));
  return {
    ...envelope,
    irVersion: envelope.irVersion ?? IR_VERSION,
    opsetImport: [...graph.opsets]
      .concat([...domains].filter((domain) => !graph.opsets.has(domain)).map((domain) => [domain, 1]))
      .map(([domain, version]) => ({ domain, version: BigInt(version) })),
    graph: {
      ...pick(envelope.graph),
      name: graph.name,
      node: written,
      initializer: [...constants, ...graph.defaults.values()],
      input: graph.inputs.map((value) => graph.declarations.get(value) ?? toValueInfo(value.name, value)),
      output: graph.outputs.map(({ name, value, declaration }) => declaration ?? toValueInfo(name, value)),
    },
  };
}

/** Encodes a graph as an ONNX file. */
export const encodeOnnx = (graph: Graph): Uint8Array<ArrayBuffer> =>
  encodeModel(toOnnx(graph, { producerName: "bert-edge" })).finish();

/**
 * Keeps the original graph's documentation and metadata. Drops its declared types of intermediate values, because many
 * of these values no longer exist.
 */
const pick = (graph: PartialMessage<ModelProto>["graph"]) => ({
  docString: graph?.docString,
  metadataProps: graph?.metadataProps,
  unknown: graph?.unknown,
});

/**
 * Chooses the names of values in the file. A computed value that is an output of the graph gets the output's name, but
 * keeps its own name if a sub-graph reads it by that name. Other values that use an output's name are renamed.
 */
function publicNames(graph: Graph, nodes: readonly Node[]): Map<Value, string> {
  const names = new Map<Value, string>();
  const captured = new Set(nodes.flatMap(({ captures }) => captures));
  for (const { name, value } of graph.outputs) {
    const isFree = value.producer && !captured.has(value) && !names.has(value);
    if (isFree || value.name === name) names.set(value, name);
  }
  const taken = new Set(graph.outputs.map(({ name }) => name));
  const others = [...nodes.flatMap(({ outputs }) => outputs), ...graph.constants()].filter(
    (value) => value !== undefined,
  );
  const used = new Set([...taken, ...others.map(({ name }) => name), ...graph.inputs.map(({ name }) => name)]);
  for (const value of others) {
    if (names.has(value) || !taken.has(value.name)) continue;
    let name = value.name;
    while (used.has(name)) name += "/inner";
    used.add(name);
    names.set(value, name);
  }
  return names;
}

/**
 * Makes an Identity node for each output whose value has another name in the file. Inputs and constants, for example,
 * do not get the output's name.
 */
const aliases = (graph: Graph, nameOf: (value: Value) => string): PartialMessage<NodeProto>[] =>
  graph.outputs
    .filter(({ name, value }) => nameOf(value) !== name)
    .map(({ name, value }) => ({
      name: `${name}/Identity`,
      opType: "Identity",
      input: [nameOf(value)],
      output: [name],
    }));

const toNode = (node: Node, nameOf: (value: Value | undefined) => string): PartialMessage<NodeProto> => ({
  ...node.proto,
  input: node.inputs.map(nameOf),
  output: node.outputs.map(nameOf),
  name: node.name,
  opType: node.opType,
  domain: node.domain || undefined,
  attribute: Object.entries(node.attributes).map(([name, attribute]) => toAttribute(name, attribute)),
});

function toAttribute(name: string, attribute: Attribute): PartialMessage<AttributeProto> {
  switch (attribute.kind) {
    case "float":
      return { name, f: attribute.value, type: attributeTypes.float };
    case "int":
      return { name, i: BigInt(attribute.value), type: attributeTypes.int };
    case "string":
      return { name, s: new TextEncoder().encode(attribute.value), type: attributeTypes.string };
    case "floats":
      return { name, floats: attribute.value, type: attributeTypes.floats };
    case "ints":
      return { name, ints: attribute.value.map(BigInt), type: attributeTypes.ints };
    case "tensor":
      return { name, t: toTensorProto("", attribute.value), type: attributeTypes.tensor };
    case "other":
      return attribute.value;
  }
}

/** Declares the known type and shape of a value; onnxruntime infers the rest. */
const toValueInfo = (
  name: string,
  { dtype, shape }: { dtype: DataType | undefined; shape: Value["shape"] },
): PartialMessage<ValueInfoProto> => ({
  name,
  type: dtype && {
    tensorType: {
      elemType: dataTypes[dtype],
      shape: shape && {
        dim: shape.map((size) => (typeof size === "number" ? { dimValue: BigInt(size) } : { dimParam: size.key })),
      },
    },
  },
});
