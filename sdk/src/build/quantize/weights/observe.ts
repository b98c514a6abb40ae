import * as ort from "onnxruntime-node";
import { BertEdgeError } from "../../../artifact/error.ts";
import { toOrt } from "../../evaluate/ort-tensor.ts";
import { int, ints } from "../../graph/attribute.ts";
import { copyGraph } from "../../graph/copy.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Value } from "../../graph/node.ts";
import { int64s, numbersOf } from "../../graph/tensor.ts";
import { encodeOnnx } from "../../onnx/encode.ts";
import { type Product, productsOf } from "../products.ts";
import type { TokenBatch } from "../token-batches.ts";
import type { Moments } from "./moments.ts";
import type { Calibration } from "./weights.ts";

/** Bytes of moments that one pass over the calibration collects. */
const PASS_BYTES = 32 << 20;
/** TensorProto.DataType */
const FLOAT = 1;

/**
 * What the products of a float32 graph read, over a calibration's tokens: padding does not count. The sums are computed by
 * onnxruntime, as further outputs of the graph, a few products at a time.
 *
 * @throws BertEdgeError `calibration_invalid` when a product reads NaN or infinite numbers
 */
export async function observeProducts(graph: Graph, batches: readonly TokenBatch[]): Promise<Calibration> {
  const readers = Map.groupBy(productsOf(graph), ({ x }) => x);
  const calibration = new Map<string, Moments>();
  for (const pass of passesOf([...readers.keys()])) {
    const found = await observe(graph, pass, batches);
    found.forEach((moments, i) => {
      const products = readers.get(pass[i] as Value) as Product[];
      assertFinite(moments, products);
      for (const { weight } of products) {
        const before = calibration.get(weight.name);
        calibration.set(weight.name, before ? added(before, moments) : moments);
      }
    });
  }
  return calibration;
}

const widthOf = (x: Value): number => x.shape?.at(-1) as number;

/** Values in groups whose moments fit a pass. */
function passesOf(values: readonly Value[]): Value[][] {
  const passes: Value[][] = [];
  let room = 0;
  for (const value of values) {
    const bytes = 4 * widthOf(value) ** 2;
    if (bytes > room) {
      passes.push([]);
      room = PASS_BYTES;
    }
    passes.at(-1)?.push(value);
    room -= bytes;
  }
  return passes;
}

async function observe(source: Graph, values: readonly Value[], batches: readonly TokenBatch[]): Promise<Moments[]> {
  const session = await ort.InferenceSession.create(encodeOnnx(withMoments(source, values)), {
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const all = values.map((value) => {
    const width = widthOf(value);
    return { width, tokens: 0, sum: new Float32Array(width), products: new Float32Array(width * width) };
  });
  try {
    for (const batch of batches) {
      const feeds = [...batch].filter(([name]) => session.inputNames.includes(name));
      const results = await session.run(Object.fromEntries(feeds.map(([name, value]) => [name, toOrt(value)])));
      const tokens = tokensOf(batch);
      all.forEach((moments, i) => {
        moments.tokens += tokens;
        addTo(moments.products, results[`products.${i}`]?.data as Float32Array);
        addTo(moments.sum, results[`sum.${i}`]?.data as Float32Array);
      });
    }
  } finally {
    await session.release();
  }
  return all;
}

/** The part of a graph that leads to some values x, with Σ x xᵀ and Σ x over a batch's tokens as its outputs. */
function withMoments(source: Graph, values: readonly Value[]): Graph {
  const graph = copyGraph(source);
  const twins = new Map([...graph.nodes].flatMap(({ outputs }) => outputs.map((value) => [value?.name, value])));
  const mask = graph.inputs.find(({ name }) => name === "attention_mask");
  const present =
    mask &&
    graph.add("Unsqueeze", [
      graph.add("Cast", [mask], { attributes: { to: int(FLOAT) } }).output,
      graph.constant("last", int64s(-1)),
    ]).output;
  graph.outputs.length = 0;
  values.forEach((value, i) => {
    const x = twins.get(value.name) as Value;
    const isPerToken = x.shape?.length === 3;
    const counted = present && isPerToken ? graph.add("Mul", [x, present]).output : x;
    const rows = graph.add("Reshape", [counted, graph.constant("rows", int64s(-1, widthOf(value)))]).output;
    const columns = graph.add("Transpose", [rows], { attributes: { perm: ints(1, 0) } }).output;
    const products = graph.add("MatMul", [columns, rows]).output;
    const sum = graph.add("ReduceSum", [rows, graph.constant("first", int64s(0))], {
      attributes: { keepdims: int(0) },
    }).output;
    graph.outputs.push({ name: `products.${i}`, value: products, declaration: undefined });
    graph.outputs.push({ name: `sum.${i}`, value: sum, declaration: undefined });
  });
  graph.prune();
  return graph;
}

function tokensOf(batch: TokenBatch): number {
  const mask = batch.get("attention_mask") ?? batch.get("input_ids");
  return mask ? numbersOf(mask).reduce((sum, value) => sum + Math.sign(value), 0) : 0;
}

const added = (a: Moments, b: Moments): Moments => ({
  width: a.width,
  tokens: a.tokens + b.tokens,
  sum: a.sum.map((value, i) => value + (b.sum[i] as number)),
  products: a.products.map((value, i) => value + (b.products[i] as number)),
});

function addTo(total: Float32Array, more: Float32Array): void {
  for (let i = 0; i < total.length; i++) total[i] = (total[i] as number) + (more[i] as number);
}

function assertFinite({ sum, products }: Moments, [product]: readonly Product[]): void {
  if (sum.every(Number.isFinite) && products.every(Number.isFinite)) return;
  throw new BertEdgeError(
    "calibration_invalid",
    `What ${product?.name} reads is not finite on the calibration's texts.`,
    { hint: "Check the checkpoint for NaN, infinite and very large weights before this node." },
  );
}
