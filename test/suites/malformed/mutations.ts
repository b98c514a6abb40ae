import type { GraphProto, ModelProto, NodeProto } from "../../../sdk/src/build/onnx/proto.ts";
import { bytesOf } from "../../../sdk/src/build/stored-file.ts";
import type { Choice } from "./choose.ts";

/** Damages a model in place. */
type Mutation = (graph: GraphProto, choice: Choice, model: ModelProto) => void;

/** Operators that a damaged name may become: some make much of little, some have sub-graphs, one does not exist. */
const operators = [
  ...["Add", "Mul", "Sub", "Div", "Pow", "MatMul", "Gemm", "Reshape", "Transpose", "Gather", "GatherND", "Slice"],
  ...["Concat", "Split", "Squeeze", "Unsqueeze", "Expand", "Tile", "Range", "ConstantOfShape", "Shape", "Size", "Cast"],
  ...[
    "Softmax",
    "ReduceMean",
    "LayerNormalization",
    "Gelu",
    "Erf",
    "Where",
    "Equal",
    "Einsum",
    "Pad",
    "Trilu",
    "NonZero",
  ],
  ...["If", "Loop", "Constant", "Dropout", "Attention", "SkipLayerNormalization", "Identity", "Flatten", "Nonsense"],
];

const valueNames = (graph: GraphProto): string[] => [
  ...graph.node.flatMap(({ output }) => output),
  ...graph.initializer.map(({ name = "" }) => name),
  ...graph.input.map(({ name = "" }) => name),
];

const withAttributes = (graph: GraphProto): NodeProto[] => graph.node.filter(({ attribute }) => attribute.length > 0);

/** Index of an element, which there must be. */
const place = (choice: Choice, items: readonly unknown[]): number => items.indexOf(choice.of(items));

/** What can be wrong with a file that is a well-formed message all the same. */
export const mutations: Readonly<Record<string, Mutation>> = {
  "a constant of another shape": ({ initializer }, choice) => {
    const { dims } = choice.of(initializer);
    if (dims.length === 0 || choice.below(4) === 0) dims.push(choice.number());
    else dims[choice.below(dims.length)] = choice.number();
  },
  "a constant of another type": ({ initializer }, choice) => {
    choice.of(initializer).dataType = choice.below(26);
  },
  "a constant of other whole numbers": ({ initializer }, choice) => {
    const tensor = choice.of(initializer.filter(({ dataType, rawData }) => dataType === 7 && rawData?.length));
    const values = new BigInt64Array(new Uint8Array(tensor.rawData ? bytesOf(tensor.rawData) : []).buffer);
    values[choice.below(values.length)] = choice.number();
    tensor.rawData = new Uint8Array(values.buffer);
  },
  "a constant of other numbers": ({ initializer }, choice) => {
    const tensor = choice.of(initializer.filter(({ dataType, rawData }) => dataType === 1 && rawData?.length));
    const values = new Float32Array(new Uint8Array(tensor.rawData ? bytesOf(tensor.rawData) : []).buffer);
    values[choice.below(values.length)] = choice.of([Number.NaN, Infinity, -Infinity, 0, 1, 1e38, 1e-40]);
    tensor.rawData = new Uint8Array(values.buffer);
  },
  "an input of another shape": ({ input }, choice) => {
    const dims = choice.of(input).type?.tensorType?.shape?.dim ?? [];
    const dim = choice.below(2)
      ? { dimValue: choice.number() }
      : { dimParam: choice.of(["sequence", "batch", "", "9"]) };
    const way = choice.below(4);
    if (way === 0) dims.push(dim);
    else if (way === 1) dims.pop();
    else dims.splice(choice.below(dims.length), 1, dim);
  },
  "an input of another type": ({ input }, choice) => {
    const { type } = choice.of(input);
    if (type?.tensorType) type.tensorType.elemType = choice.below(26);
  },
  "a declaration that lies": (graph, choice) => {
    const shape = { dim: Array.from({ length: choice.below(5) }, () => ({ dimValue: choice.number() })) };
    const name = choice.of(valueNames(graph));
    const type = { tensorType: { elemType: choice.below(17), shape } };
    const list = choice.below(3) > 0 ? graph.valueInfo : graph.output;
    list.push({ name, type, metadataProps: [] });
  },
  "an output of another shape": ({ output }, choice) => {
    choice.of(output).type = { tensorType: { elemType: 1, shape: { dim: [{ dimValue: choice.number() }] } } };
  },
  "an attribute of another value": (graph, choice) => {
    const attribute = choice.of(choice.of(withAttributes(graph)).attribute);
    attribute.i = choice.number();
    attribute.f = Number(choice.number());
    if (attribute.ints.length > 0) attribute.ints[choice.below(attribute.ints.length)] = choice.number();
  },
  "an attribute of another length": (graph, choice) => {
    const attribute = choice.of(choice.of(withAttributes(graph)).attribute);
    if (choice.below(2)) attribute.ints.push(choice.number());
    else attribute.ints.pop();
  },
  "an attribute of another type": (graph, choice) => {
    choice.of(choice.of(withAttributes(graph)).attribute).type = choice.below(16);
  },
  "an attribute of another name": (graph, choice) => {
    const attribute = choice.of(choice.of(withAttributes(graph)).attribute);
    attribute.name = choice.of(["axis", "axes", "perm", "to", "keepdims", "value", "epsilon", "num_heads", ""]);
  },
  "an attribute too many": (graph, choice) => {
    const { attribute } = choice.of(withAttributes(graph));
    choice.of(graph.node).attribute.push(choice.of(attribute));
  },
  "an attribute too few": (graph, choice) => {
    choice.of(withAttributes(graph)).attribute.pop();
  },
  "another operator": (graph, choice) => {
    choice.of(graph.node).opType = choice.of(operators);
  },
  "another domain": (graph, choice) => {
    choice.of(graph.node).domain = choice.of(["com.microsoft", "ai.onnx", "ai.onnx.ml", "nowhere"]);
  },
  "another input": (graph, choice) => {
    const { input } = choice.of(graph.node);
    input[place(choice, input)] = choice.of(valueNames(graph));
  },
  "an input left out": (graph, choice) => {
    const { input } = choice.of(graph.node);
    if (choice.below(2)) input.pop();
    else input[place(choice, input)] = choice.of(["", "nothing"]);
  },
  "an input too many": (graph, choice) => {
    choice.of(graph.node).input.push(choice.of(valueNames(graph)));
  },
  "a result in a circle": (graph, choice) => {
    const [first, second] = [choice.of(graph.node), choice.of(graph.node)];
    first.input[place(choice, first.input)] = second.output[0] ?? "";
    second.input[place(choice, second.input)] = first.output[0] ?? "";
  },
  "another name of a result": (graph, choice) => {
    const { output } = choice.of(graph.node);
    output[place(choice, output)] = choice.of([...valueNames(graph), "", "other"]);
  },
  "a result too many": (graph, choice) => {
    choice.of(graph.node).output.push(choice.of(["more", ""]));
  },
  "no results": (graph, choice) => {
    choice.of(graph.node).output.length = 0;
  },
  "a node left out": ({ node }, choice) => {
    node.splice(place(choice, node), 1);
  },
  "a node twice": ({ node }, choice) => {
    node.push(structuredClone(choice.of(node)));
  },
  "a constant left out": ({ initializer }, choice) => {
    initializer.splice(place(choice, initializer), 1);
  },
  "a constant twice": ({ initializer }, choice) => {
    initializer.push(structuredClone(choice.of(initializer)));
  },
  "a constant that is an input": ({ initializer, input }, choice) => {
    input.push({ name: choice.of(initializer).name ?? "", metadataProps: [] });
  },
  "an input twice": ({ input }, choice) => {
    input.push(structuredClone(choice.of(input)));
  },
  "an input left out of the list": ({ input }, choice) => {
    input.splice(place(choice, input), 1);
  },
  "an output too many": ({ output, ...graph }, choice) => {
    output.push({ name: choice.of([...valueNames({ output, ...graph }), "nothing"]), metadataProps: [] });
  },
  "no outputs": ({ output }) => {
    output.length = 0;
  },
  "another operator set": (_, choice, { opsetImport }) => {
    const entry = choice.of(opsetImport);
    if (choice.below(3) === 0) entry.domain = choice.of(["com.microsoft", "nowhere", "ai.onnx"]);
    else entry.version = choice.below(3) ? BigInt(choice.below(26)) : choice.number();
  },
  "no operator set": (_, choice, { opsetImport }) => {
    opsetImport.splice(place(choice, opsetImport), 1);
  },
  "another version of the format": (_, choice, model) => {
    model.irVersion = choice.number();
  },
};
