import type { Attribute, Graph, Node, ValueInfo } from "../graph/plain.ts";
import type { Tensor } from "../graph/tensor.ts";
import { type Draft, encodeModel } from "./encode-model.ts";
import type { AttributeProto, ModelProto, NodeProto, TensorProto, ValueInfoProto } from "./proto.ts";
import { dataTypes } from "./tensor-proto.ts";

/** Standard-domain opset of the models we write: the first with LayerNormalization as an operator. */
const OPSET = 17n;
const IR_VERSION = 8n;
const CONTRIB_OPSET = 1n;

/** AttributeProto.AttributeType */
const attributeTypes: Record<Attribute["kind"], number> = { float: 1, int: 2, string: 3, ints: 7 };

/** A graph as an ONNX file. */
export function encodeOnnx(graph: Graph): Uint8Array<ArrayBuffer> {
  return encodeModel(toModel(graph)).finish();
}

function toModel(graph: Graph): Draft<ModelProto> {
  return {
    irVersion: IR_VERSION,
    producerName: "bert-edge",
    graph: {
      node: graph.nodes.map(toNode),
      name: graph.name,
      initializer: [...graph.initializers].map(([name, value]) => toTensor(name, value)),
      input: graph.inputs.map(toValueInfo),
      output: graph.outputs.map(toValueInfo),
    },
    opsetImport: [
      { domain: "", version: OPSET },
      { domain: "com.microsoft", version: CONTRIB_OPSET },
    ],
  };
}

const toNode = ({ name, domain, opType, inputs, outputs, attributes }: Node): Draft<NodeProto> => ({
  input: inputs,
  output: outputs,
  name,
  opType,
  attribute: Object.entries(attributes).map(([attributeName, attribute]) => ({
    name: attributeName,
    ...toValue(attribute),
    type: attributeTypes[attribute.kind],
  })),
  domain: domain || undefined,
});

function toValue(attribute: Attribute): Draft<AttributeProto> {
  switch (attribute.kind) {
    case "float":
      return { f: attribute.value };
    case "int":
      return { i: BigInt(attribute.value) };
    case "string":
      return { s: new TextEncoder().encode(attribute.value) };
    case "ints":
      return { ints: attribute.value.map(BigInt) };
  }
}

const toTensor = (name: string, { dtype, shape, data }: Tensor): Draft<TensorProto> => ({
  dims: shape.map(BigInt),
  dataType: dataTypes[dtype],
  name,
  rawData: data,
});

const toValueInfo = ({ name, dtype, shape }: ValueInfo): Draft<ValueInfoProto> => ({
  name,
  type: {
    tensorType: {
      elemType: dataTypes[dtype],
      shape: { dim: shape.map((size) => (typeof size === "number" ? { dimValue: BigInt(size) } : { dimParam: size })) },
    },
  },
});
