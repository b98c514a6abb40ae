import { expect } from "vitest";
import type { DataType, Tensor } from "../../sdk/src/build/graph/tensor.ts";
import { decodeModel } from "../../sdk/src/build/onnx/decode-model.ts";
import { type Draft, encodeModel } from "../../sdk/src/build/onnx/encode-model.ts";
import { fromOnnx } from "../../sdk/src/build/onnx/from-onnx.ts";
import type {
  AttributeProto,
  GraphProto,
  ModelProto,
  NodeProto,
  TensorProto,
  ValueInfoProto,
} from "../../sdk/src/build/onnx/proto.ts";
import { dataTypes, toTensorProto } from "../../sdk/src/build/onnx/tensor-proto.ts";
import { toOnnx } from "../../sdk/src/build/onnx/to-onnx.ts";
import { runModel, type Tensors } from "./run-model.ts";

/** A model as it is read from a file: IR version 8, opset 17, unless it says otherwise. */
export const modelOf = (graph: Draft<GraphProto>, model: Draft<ModelProto> = {}): ModelProto =>
  decodeModel(
    encodeModel({
      irVersion: 8n,
      opsetImport: [{ domain: "", version: 17n }],
      ...model,
      graph: { name: "graph", ...graph },
    }).finish(),
  );

/** `"y = Add(a, b)"`, with its attributes. An empty name is an input or output that is left out. */
export function nodeOf(
  text: string,
  attribute: readonly Draft<AttributeProto>[] = [],
  more: Draft<NodeProto> = {},
): Draft<NodeProto> {
  const [, outputs = "", opType, inputs = ""] = /^(.*?) = (\w+)\((.*)\)$/.exec(text) ?? [];
  const names = (list: string) => (list === "" ? [] : list.split(",").map((name) => name.trim()));
  return { opType, input: names(inputs), output: names(outputs), attribute, ...more };
}

/** @param dims names are open sizes, undefined ones without a name; undefined where the rank is open */
export const declarationOf = (
  name: string,
  dims?: readonly (number | string | undefined)[],
  dtype: DataType = "float32",
): Draft<ValueInfoProto> => ({
  name,
  type: {
    tensorType: {
      elemType: dataTypes[dtype],
      shape: dims && {
        dim: dims.map((dim) => (typeof dim === "number" ? { dimValue: BigInt(dim) } : { dimParam: dim })),
      },
    },
  },
});

export const initializerOf = (name: string, tensor: Tensor): Draft<TensorProto> => toTensorProto(name, tensor);

/** AttributeProto.AttributeType */
export const attribute = {
  float: (name: string, f: number): Draft<AttributeProto> => ({ name, f, type: 1 }),
  int: (name: string, i: number): Draft<AttributeProto> => ({ name, i: BigInt(i), type: 2 }),
  ints: (name: string, ...values: number[]): Draft<AttributeProto> => ({ name, ints: values.map(BigInt), type: 7 }),
  tensor: (name: string, tensor: Tensor): Draft<AttributeProto> => ({ name, t: toTensorProto("", tensor), type: 4 }),
  graph: (name: string, g: Draft<GraphProto>): Draft<AttributeProto> => ({ name, g: { name, ...g }, type: 5 }),
  /** A function's reference to an attribute of its call. */
  reference: (name: string, refAttrName: string, type: number): Draft<AttributeProto> => ({ name, refAttrName, type }),
};

/** The file that a model becomes by way of the graph. */
export const rewrittenFile = (model: ModelProto): Uint8Array<ArrayBuffer> =>
  encodeModel(toOnnx(fromOnnx(model), model)).finish();

/** Bytes of every output of every run, by their names. */
const bytesOf = (runs: readonly Tensors[]) =>
  runs.map((outputs) =>
    Object.entries(outputs).map(([name, { type, dims, data }]) => ({
      name: `${name}: ${type}[${dims}]`,
      data: ArrayBuffer.isView(data)
        ? Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("hex")
        : data,
    })),
  );

/** Expects onnxruntime to compute the same bits from a model and from what it becomes by way of the graph. */
export async function expectSameResults(model: ModelProto, feeds: readonly Tensors[]): Promise<void> {
  const [wanted, found] = [encodeModel(model).finish(), rewrittenFile(model)];
  expect(bytesOf(await runModel(found, feeds))).toEqual(bytesOf(await runModel(wanted, feeds)));
}
