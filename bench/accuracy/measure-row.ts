import { BertEdgeError } from "../../sdk/src/artifact/error.ts";
import { engineOnThisMachine } from "../../sdk/src/build/engines.ts";
import { copyGraph } from "../../sdk/src/build/graph/copy.ts";
import type { Graph } from "../../sdk/src/build/graph/graph.ts";
import { byteLength } from "../../sdk/src/build/graph/tensor.ts";
import { encodeOnnx } from "../../sdk/src/build/onnx/encode.ts";
import { optimizeGraph } from "../../sdk/src/build/optimize/optimize-graph.ts";
import { encodeProgram } from "../../sdk/src/build/pack/program/encode-program.ts";
import { calibrationLines } from "../../sdk/src/build/quantize/calibration-lines.ts";
import { tokenBatches } from "../../sdk/src/build/quantize/token-batches.ts";
import { observeProducts } from "../../sdk/src/build/quantize/weights/observe.ts";
import { ortProduct } from "../../sdk/src/build/scalar/ort-product.ts";
import { scalarSession } from "../../sdk/src/build/scalar/session.ts";
import { readTextModel, type TextModel } from "../../sdk/src/build/text-model.ts";
import { parity } from "../../sdk/src/build/verify/parity.ts";
import { readLabelled } from "../../sdk/src/build/verify/tasks/read-labelled.ts";
import { readRetrieval } from "../../sdk/src/build/verify/tasks/read-retrieval.ts";
import { readSts } from "../../sdk/src/build/verify/tasks/read-sts.ts";
import { scoreClassification } from "../../sdk/src/build/verify/tasks/score-classification.ts";
import { scoreRetrieval } from "../../sdk/src/build/verify/tasks/score-retrieval.ts";
import { scoreSts } from "../../sdk/src/build/verify/tasks/score-sts.ts";
import { oneModel } from "../../sdk/src/runtime/engine/engine.ts";
import { ortNodeEngine } from "../../sdk/src/runtime/engine/ort-node/index.ts";
import { withHead } from "../../sdk/src/runtime/engine/with-head.ts";
import { type Row, sections } from "./rows.ts";

/** What was measured of a row; what its data were not given for is left out. */
export interface Result {
  readonly sts?: number;
  readonly meanCosine?: number;
  readonly minCosine?: number;
  /** Bytes of weights. */
  readonly bytes?: number;
  readonly ndcg?: number;
  readonly accuracy?: number;
}

export interface Data {
  readonly model: string;
  readonly sts: string;
  readonly scifact?: string;
  readonly classifier?: string;
  readonly labelled?: string;
}

const allRows = sections.flatMap(({ rows }) => rows);

export async function measureRow(
  id: string,
  data: Data,
  what: "sentences" | "retrieval" | "classification",
): Promise<Result> {
  const row = allRows.find((each) => each.id === id) as Row;
  if (what === "classification") return classification(row, data.classifier as string, data.labelled as string);
  const model = await readTextModel(data.model);
  const { graph, fused } = await graphOf(row, model);
  const compute = await computer(row, model, graph);
  if (what === "retrieval") return { ndcg: await scoreRetrieval(await readRetrieval(data.scifact as string), compute) };

  const pairs = await readSts(data.sts);
  const texts = [...new Set(pairs.flatMap(({ first, second }) => [first, second]))];
  const vectors = await compute(texts);
  const reference = await (await computer({ ...row, engine: "onnxruntime" }, model, fused))(texts);
  const byText = new Map(texts.map((text, i) => [text, vectors[i] as Float32Array]));
  const sts = await scoreSts(pairs, async (asked) => asked.map((text) => byText.get(text) as Float32Array));
  const { meanCosine, minCosine } = parity(reference, vectors);
  return { sts, meanCosine, minCosine, bytes: bytesOf(graph) };
}

async function classification(row: Row, folder: string, labelled: string): Promise<Result> {
  const model = await readTextModel(folder);
  const labels = model.task.task === "classify" ? model.task.labels : [];
  const { graph } = await graphOf(row, model);
  const texts = await readLabelled(labelled, labels);
  return { accuracy: await scoreClassification(texts, await computer(row, model, graph)) };
}

async function graphOf(row: Row, model: TextModel): Promise<{ graph: Graph; fused: Graph }> {
  const fused = copyGraph(model.graph);
  await optimizeGraph(fused);
  const batches = tokenBatches(fused, model.encode(calibrationLines));
  const calibration = await observeProducts(fused, batches);
  return { graph: await row.make({ fused, calibration, batches }), fused };
}

async function computer({ engine }: Row, model: TextModel, graph: Graph) {
  const session = engine === "edge" ? await edgeSession(model, graph) : await ortSession(graph);
  return (texts: readonly string[]) => model.compute(session, texts);
}

const ortSession = (graph: Graph) => ortNodeEngine({ threads: 1 }).load(oneModel(encodeOnnx(graph)));

/** The engine itself, which computes what its plain code does to the last bit; that where the engine lacks an operand order. */
async function edgeSession(model: TextModel, graph: Graph) {
  const size = { maxTokens: model.maxTokens, vocabulary: model.config.vocab_size };
  try {
    return await (await engineOnThisMachine("wasm")).load(oneModel(await encodeProgram(graph, size)));
  } catch (error) {
    if (error instanceof BertEdgeError && error.code === "engine_unsupported") {
      return { run: withHead(scalarSession(graph, await ortProduct()).run) };
    }
    throw error;
  }
}

const bytesOf = (graph: Graph): number =>
  [...graph.constants()].reduce((sum, { constant }) => sum + (constant ? byteLength(constant) : 0), 0);
