import type { StoredBytes } from "../files/stored-file.ts";
import { type Message, many, one, packed, type Schema } from "./schema.ts";

/*
 * The messages of an ONNX file, field by field as in https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3, which also
 * says what each means. Absent optional fields are undefined, absent repeated ones empty. int64 is bigint, for sentinels
 * such as INT64_MAX in slices are not safe integers.
 */

interface StringStringEntry extends Message {
  key?: string;
  value?: string;
}

export interface TensorProto extends Message {
  dims: bigint[];
  dataType?: number;
  segment?: Message;
  floatData: number[];
  int32Data: number[];
  stringData: Uint8Array<ArrayBuffer>[];
  int64Data: bigint[];
  name?: string;
  rawData?: Uint8Array<ArrayBuffer> | StoredBytes;
  doubleData: number[];
  uint64Data: bigint[];
  docString?: string;
  externalData: StringStringEntry[];
  dataLocation?: number;
  metadataProps: StringStringEntry[];
}

interface SparseTensorProto extends Message {
  values?: TensorProto;
  indices?: TensorProto;
  dims: bigint[];
}

interface DimensionProto extends Message {
  dimValue?: bigint;
  dimParam?: string;
  denotation?: string;
}

interface TensorShapeProto extends Message {
  dim: DimensionProto[];
}

interface TensorTypeProto extends Message {
  elemType?: number;
  shape?: TensorShapeProto;
}

interface TypeProto extends Message {
  tensorType?: TensorTypeProto;
}

export interface ValueInfoProto extends Message {
  name?: string;
  type?: TypeProto;
  docString?: string;
  metadataProps: StringStringEntry[];
}

export interface AttributeProto extends Message {
  name?: string;
  f?: number;
  i?: bigint;
  s?: Uint8Array<ArrayBuffer>;
  t?: TensorProto;
  g?: GraphProto;
  floats: number[];
  ints: bigint[];
  strings: Uint8Array<ArrayBuffer>[];
  tensors: TensorProto[];
  graphs: GraphProto[];
  docString?: string;
  tp?: TypeProto;
  typeProtos: TypeProto[];
  type?: number;
  refAttrName?: string;
  sparseTensor?: SparseTensorProto;
  sparseTensors: SparseTensorProto[];
}

export interface NodeProto extends Message {
  input: string[];
  output: string[];
  name?: string;
  opType?: string;
  attribute: AttributeProto[];
  docString?: string;
  domain?: string;
  overload?: string;
  metadataProps: StringStringEntry[];
}

export interface GraphProto extends Message {
  node: NodeProto[];
  name?: string;
  initializer: TensorProto[];
  docString?: string;
  input: ValueInfoProto[];
  output: ValueInfoProto[];
  valueInfo: ValueInfoProto[];
  sparseInitializer: SparseTensorProto[];
  metadataProps: StringStringEntry[];
}

interface OperatorSetId extends Message {
  domain?: string;
  version?: bigint;
}

interface FunctionProto extends Message {
  name?: string;
  input: string[];
  output: string[];
  attribute: string[];
  node: NodeProto[];
  docString?: string;
  opsetImport: OperatorSetId[];
  domain?: string;
  attributeProto: AttributeProto[];
  valueInfo: ValueInfoProto[];
  overload?: string;
  metadataProps: StringStringEntry[];
}

export interface ModelProto extends Message {
  irVersion?: bigint;
  producerName?: string;
  producerVersion?: string;
  domain?: string;
  modelVersion?: bigint;
  docString?: string;
  graph?: GraphProto;
  opsetImport: OperatorSetId[];
  metadataProps: StringStringEntry[];
  functions: FunctionProto[];
}

const stringStringEntry: Schema<StringStringEntry> = { key: one(1, "string"), value: one(2, "string") };

const tensor: Schema<TensorProto> = {
  dims: many(1, "int64"),
  dataType: one(2, "int32"),
  segment: one(3, () => ({})),
  floatData: packed(4, "float"),
  int32Data: packed(5, "int32"),
  stringData: many(6, "bytes"),
  int64Data: packed(7, "int64"),
  name: one(8, "string"),
  rawData: one(9, "weights"),
  doubleData: packed(10, "double"),
  uint64Data: packed(11, "uint64"),
  docString: one(12, "string"),
  externalData: many(13, () => stringStringEntry),
  dataLocation: one(14, "int32"),
  metadataProps: many(16, () => stringStringEntry),
};

const sparseTensor: Schema<SparseTensorProto> = {
  values: one(1, () => tensor),
  indices: one(2, () => tensor),
  dims: many(3, "int64"),
};

const dimension: Schema<DimensionProto> = {
  dimValue: one(1, "int64"),
  dimParam: one(2, "string"),
  denotation: one(3, "string"),
};

const tensorShape: Schema<TensorShapeProto> = { dim: many(1, () => dimension) };

const tensorType: Schema<TensorTypeProto> = { elemType: one(1, "int32"), shape: one(2, () => tensorShape) };

// Sequences, maps and optionals stay among the unknown fields: encoders have none, and none is lost.
const type: Schema<TypeProto> = { tensorType: one(1, () => tensorType) };

const valueInfo: Schema<ValueInfoProto> = {
  name: one(1, "string"),
  type: one(2, () => type),
  docString: one(3, "string"),
  metadataProps: many(4, () => stringStringEntry),
};

const attribute: Schema<AttributeProto> = {
  name: one(1, "string"),
  f: one(2, "float"),
  i: one(3, "int64"),
  s: one(4, "bytes"),
  t: one(5, () => tensor),
  g: one(6, () => graph),
  floats: many(7, "float"),
  ints: many(8, "int64"),
  strings: many(9, "bytes"),
  tensors: many(10, () => tensor),
  graphs: many(11, () => graph),
  docString: one(13, "string"),
  tp: one(14, () => type),
  typeProtos: many(15, () => type),
  type: one(20, "int32"),
  refAttrName: one(21, "string"),
  sparseTensor: one(22, () => sparseTensor),
  sparseTensors: many(23, () => sparseTensor),
};

const node: Schema<NodeProto> = {
  input: many(1, "string"),
  output: many(2, "string"),
  name: one(3, "string"),
  opType: one(4, "string"),
  attribute: many(5, () => attribute),
  docString: one(6, "string"),
  domain: one(7, "string"),
  overload: one(8, "string"),
  metadataProps: many(9, () => stringStringEntry),
};

const graph: Schema<GraphProto> = {
  node: many(1, () => node),
  name: one(2, "string"),
  initializer: many(5, () => tensor),
  docString: one(10, "string"),
  input: many(11, () => valueInfo),
  output: many(12, () => valueInfo),
  valueInfo: many(13, () => valueInfo),
  sparseInitializer: many(15, () => sparseTensor),
  metadataProps: many(16, () => stringStringEntry),
};

const operatorSetId: Schema<OperatorSetId> = { domain: one(1, "string"), version: one(2, "int64") };

const functionProto: Schema<FunctionProto> = {
  name: one(1, "string"),
  input: many(4, "string"),
  output: many(5, "string"),
  attribute: many(6, "string"),
  node: many(7, () => node),
  docString: one(8, "string"),
  opsetImport: many(9, () => operatorSetId),
  domain: one(10, "string"),
  attributeProto: many(11, () => attribute),
  valueInfo: many(12, () => valueInfo),
  overload: one(13, "string"),
  metadataProps: many(14, () => stringStringEntry),
};

export const modelSchema: Schema<ModelProto> = {
  irVersion: one(1, "int64"),
  producerName: one(2, "string"),
  producerVersion: one(3, "string"),
  domain: one(4, "string"),
  modelVersion: one(5, "int64"),
  docString: one(6, "string"),
  graph: one(7, () => graph),
  opsetImport: many(8, () => operatorSetId),
  metadataProps: many(14, () => stringStringEntry),
  functions: many(25, () => functionProto),
};
