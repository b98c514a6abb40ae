import { parity } from "#sdk/compile/accuracy/parity.ts";
import { readLabelled, scoreClassification } from "#sdk/compile/accuracy/tasks/classification.ts";
import { readSts, scoreSts } from "#sdk/compile/accuracy/tasks/sts.ts";
import { tokenBatches } from "#sdk/compile/evaluate/token-batches.ts";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { copyGraph } from "#sdk/compile/graph/copy-graph.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel, type TextModel } from "#sdk/compile/model/text-model.ts";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
import { observeStatistics } from "#sdk/compile/quantize/calibration/observe-statistics.ts";
import { readRetrieval } from "../eval/retrieval/read-retrieval.ts";
import { scoreRetrieval } from "../eval/retrieval/score-retrieval.ts";
import { formsForSize } from "./forms-for-size.ts";
import { load } from "./load.ts";
import { type Row, type Subject, sections } from "./rows.ts";

/** Measurements of a row. A task that was not measured has no property. */
export interface Result {
  readonly sts?: number;
  readonly meanCosine?: number;
  readonly minCosine?: number;
  /** Size of our engine's model file, or of the weights in other engines, in bytes. */
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
  const { compute, bytes } = await load(row.engine, model, graph);
  if (what === "retrieval") return { ndcg: await scoreRetrieval(await readRetrieval(data.scifact as string), compute) };

  const pairs = await readSts(data.sts);
  const texts = [...new Set(pairs.flatMap(({ first, second }) => [first, second]))];
  const vectors = await compute(texts);
  const reference = await (await load("onnxruntime", model, fused)).compute(texts);
  const byText = new Map(texts.map((text, i) => [text, vectors[i] as Float32Array]));
  const sts = await scoreSts(pairs, async (asked) => asked.map((text) => byText.get(text) as Float32Array));
  const { meanCosine, minCosine } = parity(reference, vectors);
  return { sts, meanCosine, minCosine, bytes };
}

async function classification(row: Row, data: Data): Promise<Result> {
  const model = await readTextModel(await describeModel(data.classifier as string));
  const labels = model.task.task === "classify" ? model.task.labels : [];
  const { graph } = await graphOf(row, model, data);
  const texts = await readLabelled(data.labelled as string, labels);
  const { compute } = await load(row.engine, model, graph);
  return { accuracy: await scoreClassification(texts, compute) };
}

async function graphOf(row: Row, model: TextModel, { calibration }: Data): Promise<{ graph: Graph; fused: Graph }> {
  const fused = copyGraph(model.graph);
  await fuseGraph(fused);
  const batches = tokenBatches(fused, model.encode(calibrationTexts.slice(0, calibration)));
  const statistics = await observeStatistics(fused, batches);
  const formsFor: Subject["formsFor"] = (quantizers, maxSize) => formsForSize(model, fused, quantizers, maxSize);
  return { graph: await row.make({ fused, statistics, batches, formsFor }), fused };
}
