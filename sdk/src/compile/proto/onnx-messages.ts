import type { StoredBytes } from "../files/stored-file.ts";
import { type Message, optional, packed, repeated, type Schema } from "./schema.ts";

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

const stringStringEntry: Schema<StringStringEntry> = { key: optional(1, "string"), value: optional(2, "string") };

const tensor: Schema<TensorProto> = {
  dims: repeated(1, "int64"),
  dataType: optional(2, "int32"),
  segment: optional(3, () => ({})),
  floatData: packed(4, "float"),
  int32Data: packed(5, "int32"),
  stringData: repeated(6, "bytes"),
  int64Data: packed(7, "int64"),
  name: optional(8, "string"),
  rawData: optional(9, "weights"),
  doubleData: packed(10, "double"),
  uint64Data: packed(11, "uint64"),
  docString: optional(12, "string"),
  externalData: repeated(13, () => stringStringEntry),
  dataLocation: optional(14, "int32"),
  metadataProps: repeated(16, () => stringStringEntry),
};

const sparseTensor: Schema<SparseTensorProto> = {
  values: optional(1, () => tensor),
  indices: optional(2, () => tensor),
  dims: repeated(3, "int64"),
};

const dimension: Schema<DimensionProto> = {
  dimValue: optional(1, "int64"),
  dimParam: optional(2, "string"),
  denotation: optional(3, "string"),
};

const tensorShape: Schema<TensorShapeProto> = { dim: repeated(1, () => dimension) };

const tensorType: Schema<TensorTypeProto> = { elemType: optional(1, "int32"), shape: optional(2, () => tensorShape) };

// Sequences, maps and optionals stay among the unknown fields: encoders have none, and none is lost.
const type: Schema<TypeProto> = { tensorType: optional(1, () => tensorType) };

const valueInfo: Schema<ValueInfoProto> = {
  name: optional(1, "string"),
  type: optional(2, () => type),
  docString: optional(3, "string"),
  metadataProps: repeated(4, () => stringStringEntry),
};

const attribute: Schema<AttributeProto> = {
  name: optional(1, "string"),
  f: optional(2, "float"),
  i: optional(3, "int64"),
  s: optional(4, "bytes"),
  t: optional(5, () => tensor),
  g: optional(6, () => graph),
  floats: repeated(7, "float"),
  ints: repeated(8, "int64"),
  strings: repeated(9, "bytes"),
  tensors: repeated(10, () => tensor),
  graphs: repeated(11, () => graph),
  docString: optional(13, "string"),
  tp: optional(14, () => type),
  typeProtos: repeated(15, () => type),
  type: optional(20, "int32"),
  refAttrName: optional(21, "string"),
  sparseTensor: optional(22, () => sparseTensor),
  sparseTensors: repeated(23, () => sparseTensor),
};

const node: Schema<NodeProto> = {
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

const graph: Schema<GraphProto> = {
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

const operatorSetId: Schema<OperatorSetId> = { domain: optional(1, "string"), version: optional(2, "int64") };

const functionProto: Schema<FunctionProto> = {
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

export const modelSchema: Schema<ModelProto> = {
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
