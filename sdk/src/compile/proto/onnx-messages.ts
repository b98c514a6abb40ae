import { type AnySchema, type Decoded, type FieldSchema, optional, packedRepeated, repeated } from "./schema.ts";

/*
 * The messages of an ONNX file. Their fields are explained in https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3.
 */

const stringStringEntry = { key: optional(1, "string"), value: optional(2, "string") };

const tensor = {
  dims: repeated(1, "int64"),
  dataType: optional(2, "int32"),
  segment: optional(3, () => ({})),
  floatData: packedRepeated(4, "float"),
  int32Data: packedRepeated(5, "int32"),
  stringData: repeated(6, "bytes"),
  int64Data: packedRepeated(7, "int64"),
  name: optional(8, "string"),
  rawData: optional(9, "weights"),
  doubleData: packedRepeated(10, "double"),
  uint64Data: packedRepeated(11, "uint64"),
  docString: optional(12, "string"),
  externalData: repeated(13, () => stringStringEntry),
  dataLocation: optional(14, "int32"),
  metadataProps: repeated(16, () => stringStringEntry),
};

const sparseTensor = {
  values: optional(1, () => tensor),
  indices: optional(2, () => tensor),
  dims: repeated(3, "int64"),
};

const dimension = {
  dimValue: optional(1, "int64"),
  dimParam: optional(2, "string"),
  denotation: optional(3, "string"),
};

const tensorShape = { dim: repeated(1, () => dimension) };

const tensorType = { elemType: optional(1, "int32"), shape: optional(2, () => tensorShape) };

// Types other than tensors (sequence, map, optional) stay in `unknown` and are written back unchanged. BERT models have
// none.
const type = { tensorType: optional(1, () => tensorType) };

const valueInfo = {
  name: optional(1, "string"),
  type: optional(2, () => type),
  docString: optional(3, "string"),
  metadataProps: repeated(4, () => stringStringEntry),
};

// Sub-graph fields need explicit types, because TypeScript cannot infer a type that refers to itself.
const anyGraph = (): AnySchema => graph;
const graphField: FieldSchema<GraphProto, false> = { number: 6, type: anyGraph, repeated: false, packed: false };
const graphsField: FieldSchema<GraphProto, true> = { number: 11, type: anyGraph, repeated: true, packed: false };

const attribute = {
  name: optional(1, "string"),
  f: optional(2, "float"),
  i: optional(3, "int64"),
  s: optional(4, "bytes"),
  t: optional(5, () => tensor),
  g: graphField,
  floats: repeated(7, "float"),
  ints: repeated(8, "int64"),
  strings: repeated(9, "bytes"),
  tensors: repeated(10, () => tensor),
  graphs: graphsField,
  docString: optional(13, "string"),
  tp: optional(14, () => type),
  typeProtos: repeated(15, () => type),
  type: optional(20, "int32"),
  refAttrName: optional(21, "string"),
  sparseTensor: optional(22, () => sparseTensor),
  sparseTensors: repeated(23, () => sparseTensor),
};

const node = {
  input: repeated(1, "string"),
  output: repeated(2, "string"),
  name: optional(3, "string"),
  opType: optional(4, "string"),
  attribute: repeated(5, () => attribute),
  docString: optional(6, "string"),
  domain: optional(7, "string"),
  overload: optional(8, "string"),
  metadataProps: repeated(9, () => stringStringEntry),
};

const graph = {
  node: repeated(1, () => node),
  name: optional(2, "string"),
  initializer: repeated(5, () => tensor),
  docString: optional(10, "string"),
  input: repeated(11, () => valueInfo),
  output: repeated(12, () => valueInfo),
  valueInfo: repeated(13, () => valueInfo),
  sparseInitializer: repeated(15, () => sparseTensor),
  metadataProps: repeated(16, () => stringStringEntry),
};

const operatorSetId = { domain: optional(1, "string"), version: optional(2, "int64") };

const functionProto = {
  name: optional(1, "string"),
  input: repeated(4, "string"),
  output: repeated(5, "string"),
  attribute: repeated(6, "string"),
  node: repeated(7, () => node),
  docString: optional(8, "string"),
  opsetImport: repeated(9, () => operatorSetId),
  domain: optional(10, "string"),
  attributeProto: repeated(11, () => attribute),
  valueInfo: repeated(12, () => valueInfo),
  overload: optional(13, "string"),
  metadataProps: repeated(14, () => stringStringEntry),
};

export const modelSchema = {
  irVersion: optional(1, "int64"),
  producerName: optional(2, "string"),
  producerVersion: optional(3, "string"),
  domain: optional(4, "string"),
  modelVersion: optional(5, "int64"),
  docString: optional(6, "string"),
  graph: optional(7, () => graph),
  opsetImport: repeated(8, () => operatorSetId),
  metadataProps: repeated(14, () => stringStringEntry),
  functions: repeated(25, () => functionProto),
};

export type TensorProto = Decoded<typeof tensor>;
export type ValueInfoProto = Decoded<typeof valueInfo>;
export type AttributeProto = Decoded<typeof attribute>;
export type NodeProto = Decoded<typeof node>;
/**
 * An interface, because a type alias cannot refer to itself. A graph refers to itself: the attributes of If, Loop and
 * Scan contain graphs.
 */
export interface GraphProto extends Decoded<typeof graph> {}
export type ModelProto = Decoded<typeof modelSchema>;
