import { BertEdgeError } from "#sdk/artifact/error.ts";
import { parity } from "#sdk/compile/accuracy/parity.ts";
import { readLabelled, scoreClassification } from "#sdk/compile/accuracy/tasks/classification.ts";
import { readSts, scoreSts } from "#sdk/compile/accuracy/tasks/sts.ts";
import { tokenBatches } from "#sdk/compile/evaluate/token-batches.ts";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { copyGraph } from "#sdk/compile/graph/copy-graph.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { byteLength } from "#sdk/compile/graph/tensor.ts";
import { encodeProgram } from "#sdk/compile/lower/write-model-file.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel, type TextModel } from "#sdk/compile/model/text-model.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
import { observeStatistics } from "#sdk/compile/quantize/calibration/observe-statistics.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { oneModel } from "#sdk/runtime/engine/engine.ts";
import { ortNodeEngine } from "#sdk/runtime/engine/ort-node/index.ts";
import { withHead } from "#sdk/runtime/engine/with-head.ts";
import { ortIntegerMatMul } from "#test/oracles/interpreter/ort-integer-mat-mul.ts";
import { referenceSession } from "#test/oracles/interpreter/reference-session.ts";
import { readRetrieval } from "../eval/retrieval/read-retrieval.ts";
import { scoreRetrieval } from "../eval/retrieval/score-retrieval.ts";
import { type Row, sections } from "./rows.ts";

/** Measurements of a row. A task that was not measured has no property. */
export interface Result {
  readonly sts?: number;
  readonly meanCosine?: number;
  readonly minCosine?: number;
  /** Size of the weights in bytes. */
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
  /** Number of calibration texts. Default: all. */
  readonly calibration?: number;
}

/** Task whose score a row has. */
export type Task = "sentences" | "retrieval" | "classification";

const allRows = sections.flatMap(({ rows }) => rows);

export async function measureRow(id: string, data: Data, what: Task): Promise<Result> {
  const row = allRows.find((each) => each.id === id) as Row;
  if (what === "classification") return classification(row, data);
  const model = await readTextModel(await describeModel(data.model));
  const { graph, fused } = await graphOf(row, model, data);
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

async function classification(row: Row, data: Data): Promise<Result> {
  const model = await readTextModel(await describeModel(data.classifier as string));
  const labels = model.task.task === "classify" ? model.task.labels : [];
  const { graph } = await graphOf(row, model, data);
  const texts = await readLabelled(data.labelled as string, labels);
  return { accuracy: await scoreClassification(texts, await computer(row, model, graph)) };
}

async function graphOf(row: Row, model: TextModel, { calibration }: Data): Promise<{ graph: Graph; fused: Graph }> {
  const fused = copyGraph(model.graph);
  await fuseGraph(fused);
  const batches = tokenBatches(fused, model.encode(calibrationTexts.slice(0, calibration)));
  const statistics = await observeStatistics(fused, batches);
  return { graph: await row.make({ fused, statistics, batches }), fused };
}

async function computer({ engine }: Row, model: TextModel, graph: Graph) {
  const session = engine === "edge" ? await edgeSession(model, graph) : await ortSession(graph, engine);
  return (texts: readonly string[]) => model.compute(session, texts);
}

const ortSession = (graph: Graph, engine: Row["engine"]) =>
  ortNodeEngine({ threads: 1, optimize: engine === "onnxruntime" }).load(oneModel(encodeOnnx(graph)));

/**
 * Opens a session of our engine. If our engine has no kernels for the graph, opens a session of the reference kernels,
 * which compute the same result to the last bit.
 */
async function edgeSession(model: TextModel, graph: Graph) {
  const size = { maxTokens: model.maxTokens, vocabulary: model.config.vocabularySize };
  try {
    return await (await engineOnThisMachine("wasm")).load(oneModel(await encodeProgram(graph, size)));
  } catch (error) {
    if (error instanceof BertEdgeError && error.code === "engine_unsupported") {
      return { run: withHead(referenceSession(graph, await ortIntegerMatMul()).run) };
    }
    throw error;
  }
}

const bytesOf = (graph: Graph): number =>
  [...graph.constants()].reduce((sum, { constant }) => sum + (constant ? byteLength(constant) : 0), 0);
