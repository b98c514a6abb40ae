import { BertEdge } from "#sdk/client/index.ts";
import { readLabelled } from "#sdk/compile/accuracy/tasks/read-labelled.ts";
import { readSts } from "#sdk/compile/accuracy/tasks/read-sts.ts";
import { scoreClassification } from "#sdk/compile/accuracy/tasks/score-classification.ts";
import { scoreSts } from "#sdk/compile/accuracy/tasks/score-sts.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import type { ClassifyResponse } from "#sdk/serve/contract/classify.ts";
import { KEY } from "#test/fixtures/served-tiers.ts";
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
  readonly metric: string;
  readonly decimals: number;
  /** Score of the float32 model, and how far from it a tier may be. */
  readonly expected: number;
  readonly within: number;
  readonly score: (url: string, data: string, labels: readonly string[]) => Promise<number>;
}

/** Few enough texts for a request to be short at the edge, one request at a time. */
const ONE_BY_ONE = { apiKey: KEY, batchSize: 32, concurrency: 1, timeoutMs: 120_000 };

const embedder = (url: string) => async (texts: readonly string[]) =>
  (await new BertEdge({ baseURL: url, ...ONE_BY_ONE }).embed(texts, { truncate: true })).embeddings;

/** Returns the logits of texts, in the order of the model's labels. */
const classifier = (url: string, labels: readonly string[]) => (texts: readonly string[]) =>
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
    ...{ expected: 82.03, within: 0.1 },
    score: async (url, data) => scoreSts(await readSts(data), embedder(url)),
  },
  search: {
    ...{ model: "all-MiniLM-L6-v2", data: "data/scifact", metric: "nDCG@10", decimals: 4 },
    ...{ expected: 0.645, within: 0.005 },
    score: async (url, data) => scoreRetrieval(await readRetrieval(data), embedder(url)),
  },
  sentiment: {
    ...{ model: "bert-edge-mini-sst2", data: "data/sst2/dev.tsv", metric: "accuracy in percent", decimals: 2 },
    ...{ expected: 88.3, within: 0.3 },
    score: async (url, data, labels) => scoreClassification(await readLabelled(data, labels), classifier(url, labels)),
  },
} satisfies Readonly<Record<string, Benchmark>>;

export interface ScoreReport extends Omit<Benchmark, "score"> {
  readonly scores: readonly { readonly tier: TierName; readonly score: number }[];
  /** Whether every score is as near to the expected one as it must be. */
  readonly ok: boolean;
}

/** @throws DataMissing without the model or the data */
export async function scored({ score, ...benchmark }: Benchmark): Promise<ScoreReport> {
  const { model: name, expected, within } = benchmark;
  const [folder, data] = [sharedFile(`models/${name}`), sharedFile(benchmark.data)];
  const { task } = await describeModel(folder);
  const labels = task.task === "classify" ? task.labels : [];
  const scores: { tier: TierName; score: number }[] = [];
  await onTiers({ folder, name: name.toLowerCase() }, ["float32", "edge", "region"], async (tier, url) => {
    scores.push({ tier, score: await score(url, data, labels) });
  });
  return { ...benchmark, scores, ok: scores.every((each) => Math.abs(each.score - expected) <= within) };
}
