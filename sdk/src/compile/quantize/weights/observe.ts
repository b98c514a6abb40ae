import { BertEdgeError } from "../../../artifact/error.ts";
import { ortSession } from "../../evaluate/ort-session.ts";
import { toOrt } from "../../evaluate/ort-tensor.ts";
import { type Attribute, int, ints } from "../../graph/attribute.ts";
import { copyGraph } from "../../graph/copy-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Value } from "../../graph/node.ts";
import { int64s, tensor } from "../../graph/tensor.ts";
import { dataTypes } from "../../onnx/tensor-proto.ts";
import { type Product, productsOf } from "../products.ts";
import type { TokenBatch } from "../token-batches.ts";
import type { Moments } from "./moments.ts";

/** Beside an encoder's weights and activations, not much. */
const PASS_BYTES = 32 << 20;
const ONE: Attribute = { kind: "tensor", value: tensor("float32", [1], Float32Array.of(1)) };

/**
 * What the products of a float32 graph read, over a calibration's tokens: padding does not count. The sums are computed by
 * onnxruntime, as further outputs of the graph, a few products at a time.
 *
 * @param passBytes bytes of moments that one pass over the batches collects
 * @throws BertEdgeError `calibration_invalid` when the graph does not run on them, or a product reads NaN or infinite numbers
 */
export async function observeProducts(
  graph: Graph,
  batches: readonly TokenBatch[],
  passBytes = PASS_BYTES,
): Promise<ReadonlyMap<string, Moments>> {
  const readers = Map.groupBy(productsOf(graph), ({ x }) => x);
  const calibration = new Map<string, Moments>();
  for (const pass of passesOf([...readers.keys()], passBytes)) {
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
function passesOf(values: readonly Value[], passBytes: number): Value[][] {
  const passes: Value[][] = [];
  let room = 0;
  for (const value of values) {
    const bytes = 4 * widthOf(value) ** 2;
    if (bytes > room) {
      passes.push([]);
      room = passBytes;
    }
    passes.at(-1)?.push(value);
    room -= bytes;
  }
  return passes;
}

async function observe(source: Graph, values: readonly Value[], batches: readonly TokenBatch[]): Promise<Moments[]> {
  const session = await ortSession(withMoments(source, values), {
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
      const run = session.run(Object.fromEntries(feeds.map(([name, value]) => [name, toOrt(value)])));
      const results = await run.catch((cause: unknown) => {
        throw new BertEdgeError("calibration_invalid", "The model does not run on the calibration's texts.", {
          hint: "They may have more tokens than it has positions.",
          cause,
        });
      });
      all.forEach((moments, i) => {
        const resultOf = (name: string) => results[`${name}.${i}`]?.data as Float32Array;
        const [count = 0] = resultOf("count");
        moments.tokens += count;
        addTo(moments.products, resultOf("products"));
        addTo(moments.sum, resultOf("sum"));
      });
    }
  } finally {
    await session.release();
  }
  return all;
}

/**
 * The part of a graph that leads to some values x, with Σ x xᵀ, Σ x and the number of x over a batch's tokens as its outputs.
 * All its operators are the same in every version of ONNX from 9 on.
 */
function withMoments(source: Graph, values: readonly Value[]): Graph {
  const graph = copyGraph(source);
  const made = [...graph.nodes].flatMap(({ outputs }) => outputs.filter((value) => value !== undefined));
  const twins = new Map([...graph.inputs, ...made].map((value) => [value.name, value]));
  const add = (opType: string, inputs: Value[], attributes: Record<string, Attribute> = {}) =>
    graph.add(opType, inputs, { attributes }).output;
  const sizes = (...all: number[]) => graph.constant("sizes", int64s(...all));
  const mask = graph.inputs.find(({ name }) => name === "attention_mask");
  const isToken = mask && add("Reshape", [add("Cast", [mask], { to: int(dataTypes.float32) }), sizes(-1)]);
  graph.outputs.length = 0;
  values.forEach((value, i) => {
    const x = twins.get(value.name) as Value;
    const rows = add("Reshape", [x, sizes(-1, widthOf(value))]);
    const all = () => add("ConstantOfShape", [add("Gather", [add("Shape", [rows]), sizes(0)])], { value: ONE });
    // What is no longer per token has nothing of padding.
    const counted = x.shape?.length === 3 && isToken ? isToken : all();
    const columns = add("Mul", [add("Transpose", [rows], { perm: ints(1, 0) }), counted]);
    const results = {
      products: add("MatMul", [columns, rows]),
      sum: add("MatMul", [counted, rows]),
      count: add("MatMul", [counted, counted]),
    };
    for (const [name, result] of Object.entries(results))
      graph.outputs.push({ name: `${name}.${i}`, value: result, declaration: undefined });
  });
  graph.prune();
  return graph;
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
