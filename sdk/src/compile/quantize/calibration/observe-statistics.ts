import { BertEdgeError } from "../../../artifact/error.ts";
import { ortSession } from "../../evaluate/ort-session.ts";
import { toOrt } from "../../evaluate/ort-tensor.ts";
import type { TokenBatch } from "../../evaluate/token-batches.ts";
import { type Attribute, int, ints } from "../../graph/attribute.ts";
import { copyGraph } from "../../graph/copy-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Value } from "../../graph/node.ts";
import { int64s, tensor } from "../../graph/tensor.ts";
import { dataTypes } from "../../onnx/tensor-proto.ts";
import { type LinearLayer, linearLayersOf } from "../linear-layers.ts";
import type { ActivationStatistics } from "./activation-statistics.ts";

/**
 * Maximum bytes of Gram matrices that one pass collects. This is enough for two layers of BERT-base, or for all
 * layers of MiniLM.
 */
const PASS_BYTES = 128 << 20;
const ONE: Attribute = { kind: "tensor", value: tensor("float32", [1], Float32Array.of(1)) };

/**
 * Collects activation statistics of the linear layers of a float32 graph over the calibration texts. Padding tokens do not
 * count. onnxruntime computes the sums as additional outputs of the graph, for a few layers per pass.
 *
 * @param passBytes maximum bytes of Gram matrices that one pass over the batches collects
 * @returns statistics by name of the weight matrix
 * @throws BertEdgeError `calibration_invalid` when the graph does not run on the batches, or when a layer reads NaN or
 *   infinite numbers
 */
export async function observeStatistics(
  graph: Graph,
  batches: readonly TokenBatch[],
  passBytes = PASS_BYTES,
): Promise<ReadonlyMap<string, ActivationStatistics>> {
  const readers = Map.groupBy(linearLayersOf(graph), ({ x }) => x);
  const byWeight = new Map<string, ActivationStatistics>();
  for (const pass of passesOf([...readers.keys()], passBytes)) {
    const found = await observe(graph, pass, batches);
    found.forEach((statistics, i) => {
      const layers = readers.get(pass[i] as Value) as LinearLayer[];
      assertFinite(statistics, layers);
      for (const { weight } of layers) {
        const before = byWeight.get(weight.name);
        byWeight.set(weight.name, before ? added(before, statistics) : statistics);
      }
    });
  }
  return byWeight;
}

const widthOf = (x: Value): number => x.shape?.at(-1) as number;

/**
 * Groups values so that the Gram matrices of each group have at most `passBytes` bytes. A value whose matrix is larger
 * gets a group of its own.
 */
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

async function observe(
  source: Graph,
  values: readonly Value[],
  batches: readonly TokenBatch[],
): Promise<ActivationStatistics[]> {
  const session = await ortSession(withStatistics(source, values), {
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const all = values.map((value) => {
    const width = widthOf(value);
    return { width, tokens: 0, sum: new Float32Array(width), gram: new Float32Array(width * width) };
  });
  try {
    for (const batch of batches) {
      const feeds = [...batch].filter(([name]) => session.inputNames.includes(name));
      const run = session.run(Object.fromEntries(feeds.map(([name, value]) => [name, toOrt(value)])));
      const results = await run.catch((cause: unknown) => {
        throw new BertEdgeError("calibration_invalid", "The model does not run on the calibration texts.", {
          hint: "Check that the texts have no more tokens than the model has positions.",
          cause,
        });
      });
      all.forEach((statistics, i) => {
        const resultOf = (name: string) => results[`${name}.${i}`]?.data as Float32Array;
        const [count = 0] = resultOf("count");
        statistics.tokens += count;
        addTo(statistics.gram, resultOf("gram"));
        addTo(statistics.sum, resultOf("sum"));
      });
    }
  } finally {
    await session.release();
  }
  return all;
}

/**
 * Copies the part of a graph that computes `values`. The copy outputs Σ x xᵀ, Σ x and the number of tokens of each value x.
 * The added operators behave the same in every opset since 9.
 */
function withStatistics(source: Graph, values: readonly Value[]): Graph {
  const graph = copyGraph(source);
  const made = [...graph.nodes].flatMap(({ outputs }) => outputs.filter((value) => value !== undefined));
  const copies = new Map([...graph.inputs, ...made].map((value) => [value.name, value]));
  const add = (opType: string, inputs: Value[], attributes: Record<string, Attribute> = {}) =>
    graph.add(opType, inputs, { attributes }).output;
  const sizes = (...all: number[]) => graph.constant("sizes", int64s(...all));
  const mask = graph.inputs.find(({ name }) => name === "attention_mask");
  const isToken = mask && add("Reshape", [add("Cast", [mask], { to: int(dataTypes.float32) }), sizes(-1)]);
  graph.outputs.length = 0;
  values.forEach((value, i) => {
    const x = copies.get(value.name) as Value;
    const rows = add("Reshape", [x, sizes(-1, widthOf(value))]);
    const all = () => add("ConstantOfShape", [add("Gather", [add("Shape", [rows]), sizes(0)])], { value: ONE });
    // A value with one row per text, for example after pooling, has no padding rows.
    const counted = x.shape?.length === 3 && isToken ? isToken : all();
    const columns = add("Mul", [add("Transpose", [rows], { perm: ints(1, 0) }), counted]);
    const results = {
      gram: add("MatMul", [columns, rows]),
      sum: add("MatMul", [counted, rows]),
      count: add("MatMul", [counted, counted]),
    };
    for (const [name, result] of Object.entries(results))
      graph.outputs.push({ name: `${name}.${i}`, value: result, declaration: undefined });
  });
  graph.prune();
  return graph;
}

const added = (a: ActivationStatistics, b: ActivationStatistics): ActivationStatistics => ({
  width: a.width,
  tokens: a.tokens + b.tokens,
  sum: a.sum.map((value, i) => value + (b.sum[i] as number)),
  gram: a.gram.map((value, i) => value + (b.gram[i] as number)),
});

function addTo(total: Float32Array, more: Float32Array): void {
  for (let i = 0; i < total.length; i++) total[i] = (total[i] as number) + (more[i] as number);
}

function assertFinite({ sum, gram }: ActivationStatistics, [layer]: readonly LinearLayer[]): void {
  if (sum.every(Number.isFinite) && gram.every(Number.isFinite)) return;
  throw new BertEdgeError(
    "calibration_invalid",
    `Linear layer "${layer?.name}" reads NaN or infinite numbers on the calibration texts.`,
    { hint: "Check the weights before this layer for NaN, infinite and very large numbers." },
  );
}
