import { basename, join } from "node:path";
import { BertEdge } from "#sdk/client/bert-edge.ts";
import { comparedAs, parity } from "#sdk/compile/accuracy/parity.ts";
import { probeTexts } from "#sdk/compile/accuracy/probe-texts.ts";
import { readLabelled, scoreClassification } from "#sdk/compile/accuracy/tasks/classification.ts";
import type { Compute } from "#sdk/compile/accuracy/tasks/each-text-once.ts";
import { readSts, scoreSts } from "#sdk/compile/accuracy/tasks/sts.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import type { ClassifyResponse } from "#sdk/serve/tasks/classify.ts";
import { writePreparableClassifier } from "#test/fixtures/classifier-case.ts";
import { KEY } from "#test/fixtures/served-tiers.ts";
import type { Unit } from "../figures.ts";
import { type TinyData, writeTinyData } from "../tiny-data.ts";
import { writeTinyModel } from "../tiny-model.ts";
import { askerOf, inParts } from "./ask.ts";
import { onTiers, type TierName } from "./on-tiers.ts";
import { readRetrieval } from "./retrieval/read-retrieval.ts";
import { scoreRetrieval } from "./retrieval/score-retrieval.ts";
import { sharedFile } from "./shared-file.ts";

/** A metric of a trained model on a data set. */
interface Benchmark {
  readonly model: string;
  /** Path in ../shared. */
  readonly data: string;
  /** The data of a short run, which has a tiny model. */
  readonly tiny: keyof TinyData;
  readonly metric: string;
  readonly unit: Unit;
  readonly decimals: number;
  /** Score of the float32 model, and how far from it a tier may be. */
  readonly expected: number;
  readonly within: number;
  /** Asks a tier for the results of texts. */
  readonly compute: (url: string, labels: readonly string[]) => Compute;
  readonly score: (data: string, compute: Compute, labels: readonly string[]) => Promise<number>;
}

/** Few enough texts for a request to be short at the edge, one request at a time. */
const ONE_BY_ONE = { apiKey: KEY, batchSize: 32, concurrency: 1, timeoutMs: 120_000 };

const embedder =
  (url: string): Compute =>
  async (texts) =>
    (await new BertEdge({ baseURL: url, ...ONE_BY_ONE }).embed(texts, { truncate: true })).embeddings;

/** Returns the logits of texts, in the order of the model's labels. */
const classifier =
  (url: string, labels: readonly string[]): Compute =>
  (texts) =>
    inParts(texts, async (inputs) => {
      const body = { inputs, function_to_apply: "none", truncate: true };
      const { results } = (await askerOf(url)("/v1/classify", body)) as ClassifyResponse;
      return results.map((scores) => {
        const byLabel = new Map(scores.map(({ label, score }) => [label, score]));
        return Float32Array.from(labels, (label) => byLabel.get(label) ?? Number.NaN);
      });
    });

export const benchmarks = {
  sts: {
    ...{ model: "all-MiniLM-L6-v2", data: "data/stsb/sts-test.csv", metric: "Spearman × 100", decimals: 2 },
    ...{ tiny: "sts", unit: "correlation", expected: 82.03, within: 0.1 },
    compute: embedder,
    score: async (data, compute) => scoreSts(await readSts(data), compute),
  },
  search: {
    ...{ model: "all-MiniLM-L6-v2", data: "data/scifact", metric: "nDCG@10", decimals: 4 },
    ...{ tiny: "retrieval", unit: "share", expected: 0.645, within: 0.005 },
    compute: embedder,
    score: async (data, compute) => scoreRetrieval(await readRetrieval(data), compute),
  },
  sentiment: {
    ...{ model: "bert-edge-mini-sst2", data: "data/sst2/dev.tsv", metric: "accuracy in percent", decimals: 2 },
    ...{ tiny: "labelled", unit: "percent", expected: 88.3, within: 0.3 },
    compute: classifier,
    score: async (data, compute, labels) => scoreClassification(await readLabelled(data, labels), compute),
  },
} satisfies Readonly<Record<string, Benchmark>>;

interface TierScore {
  readonly tier: TierName;
  readonly score: number;
  /** Agreement of the tier's results for the probe texts with those of float32. */
  readonly meanCosine: number;
}

export interface ScoreReport extends Pick<Benchmark, "model" | "data" | "metric" | "unit" | "decimals" | "within"> {
  /** Expected score; undefined if the model and the data were made. */
  readonly expected: number | undefined;
  readonly scores: readonly TierScore[];
  /** Whether every score is as near to the expected one as it must be. */
  readonly ok: boolean;
}

export const isExpected = ({ score }: TierScore, { expected = score, within }: Omit<ScoreReport, "scores" | "ok">) =>
  Math.abs(score - expected) <= within;

/**
 * Scores the tiers with a model.
 *
 * @param made folder in which a tiny model and tiny data are made. Default: the model and the data of ../shared
 * @throws DataMissing without the model or the data
 */
export async function scored(benchmark: Benchmark, made: string | undefined): Promise<ScoreReport> {
  const { compute, score, tiny, ...described } = benchmark;
  const { folder, data } = made === undefined ? shared(benchmark) : await writeTiny(made, tiny);
  const { task, config } = await describeModel(folder);
  const labels = task.task === "classify" ? task.labels : [];
  const scores: TierScore[] = [];
  let exact: readonly Float32Array[] | undefined;
  const name = basename(folder).toLowerCase();
  await onTiers({ folder, name }, ["float32", "edge", "region"], async (tier, url) => {
    const ask = compute(url, labels);
    const found = await ask(probeTexts);
    exact ??= found;
    const { meanCosine } = parity(exact, found, comparedAs(task, config.vocabularySize));
    scores.push({ tier, score: await score(data, ask, labels), meanCosine });
  });
  const expected = made === undefined ? benchmark.expected : undefined;
  const report = { ...described, model: name, data, expected, scores };
  return { ...report, ok: scores.every((each) => isExpected(each, report)) };
}

const shared = ({ model, data }: Benchmark) => ({ folder: sharedFile(`models/${model}`), data: sharedFile(data) });

async function writeTiny(place: string, name: keyof TinyData): Promise<{ folder: string; data: string }> {
  const data = (await writeTinyData(place))[name];
  if (name !== "labelled") return { folder: await writeTinyModel(place), data };
  const folder = join(place, "tiny-classifier");
  await writePreparableClassifier(folder, ["negative", "positive"]);
  return { folder, data };
}
