import type { TaskChoice } from "#sdk/compile/model/describe-model.ts";
import type { AnswerResponse } from "#sdk/serve/tasks/answer.ts";
import type { ClassifyResponse, LabelResult } from "#sdk/serve/tasks/classify.ts";
import type { FillMaskResponse } from "#sdk/serve/tasks/fill-mask.ts";
import type { RerankResponse } from "#sdk/serve/tasks/rerank.ts";
import type { SparseResponse } from "#sdk/serve/tasks/sparse.ts";
import type { EntityResult, TagResponse } from "#sdk/serve/tasks/tag.ts";
import type { TokenVectorsResponse } from "#sdk/serve/tasks/token-vectors.ts";
import type { ZeroShotResponse } from "#sdk/serve/tasks/zero-shot.ts";
import { type Ask, inParts } from "../ask.ts";
import type { HeadAnswer } from "./head-answer.ts";
import type { HeadTexts } from "./texts.ts";

/** A head, the inputs that it answers, and how a client asks our routes for the same as transformers. */
export interface HeadCase<T = unknown> {
  /** Function of pipelines.py. */
  readonly pipeline: string;
  /** Folder that make_models.py writes, or that of a trained model in ../shared/models. */
  readonly model: string;
  readonly isShared?: boolean;
  readonly choice?: TaskChoice;
  readonly inputs: (texts: HeadTexts) => readonly T[];
  readonly answers: (ask: Ask, inputs: readonly T[]) => Promise<HeadAnswer[]>;
}

type Pair = readonly [string, string];

const scoresOf = (results: readonly { readonly score: number }[]) => results.map(({ score }) => score);

const labelled = (results: readonly LabelResult[]): HeadAnswer => ({
  text: results.map(({ label }) => label).join(" "),
  numbers: scoresOf(results),
  choices: [{ pick: results[0]?.label ?? "" }],
});

const classified =
  (answerOf: (results: readonly LabelResult[]) => HeadAnswer) => (ask: Ask, inputs: readonly (string | Pair)[]) =>
    inParts(inputs, async (part) => {
      const asked = part.map((each) => (typeof each === "string" ? each : { text: each[0], text_pair: each[1] }));
      return ((await ask("/v1/classify", { inputs: asked })) as ClassifyResponse).results.map(answerOf);
    });

/** Labels in the order of make_models.py. */
const TOPICS = ["toxic", "obscene", "threat", "insult"];

const severalLabels = (results: readonly LabelResult[]): HeadAnswer => ({
  ...labelled(results),
  choices: TOPICS.map((topic) => {
    const isChosen = results.some(({ label, score }) => label === topic && score > 0.5);
    return { pick: `${topic}: ${isChosen ? "yes" : "no"}` };
  }),
});

const regression = (results: readonly LabelResult[]): HeadAnswer => ({
  ...labelled(results),
  choices: [{ pick: (results[0]?.score ?? Number.NaN) > 0 ? "positive" : "negative" }],
});

const CANDIDATES = ["politics", "sports", "animals"];

/** Documents of each query. */
const DOCUMENTS = 4;

const STRATEGIES = ["none", "simple", "first", "average", "max"] as const;

async function tagged(ask: Ask, inputs: readonly string[]): Promise<HeadAnswer[]> {
  const byStrategy = await Promise.all(
    STRATEGIES.map((aggregation_strategy) =>
      inParts(inputs, async (part) => {
        const body = { inputs: part, aggregation_strategy, ignore_labels: [] };
        return ((await ask("/v1/tag", body)) as TagResponse).results;
      }),
    ),
  );
  const place = ({ label, start, end }: EntityResult) => `${label} ${start} ${end}`;
  return inputs.map((_, i) => {
    const found = byStrategy.map((results) => results[i] ?? []);
    return {
      text: found.map((entities) => entities.map(place).join("; ")).join("\n"),
      numbers: found.flatMap(scoresOf),
      choices: (found[0] ?? []).map((entity) => ({ pick: place(entity) })),
    };
  });
}

/** Weights of a sparse vector that are compared: the highest. */
const WEIGHTS = 50;

function sparse({ indices, values }: SparseResponse["embeddings"][number]): HeadAnswer {
  const entries = indices.map((index, i) => ({ index, value: values[i] as number }));
  const highest = entries.toSorted((a, b) => b.value - a.value).slice(0, WEIGHTS);
  const byIndex = highest.toSorted((a, b) => a.index - b.index);
  return {
    text: byIndex.map(({ index }) => index).join(" "),
    numbers: byIndex.map(({ value }) => value),
    choices: [{ pick: String(highest[0]?.index) }],
  };
}

/** Puts the mask token in place of a word in the middle. */
const masked = (text: string): string => {
  const words = text.split(" ");
  return words.with(words.length >> 1, "[MASK]").join(" ");
};

const headCase = <T>(each: HeadCase<T>): HeadCase => each as HeadCase;

export const headCases: Readonly<Record<string, HeadCase>> = {
  classify: headCase({
    ...{ pipeline: "classify", model: "classify" },
    inputs: ({ reviews }) => reviews,
    answers: classified(labelled),
  }),
  sentiment: headCase({
    ...{ pipeline: "classify", model: "bert-edge-mini-sst2", isShared: true },
    inputs: ({ reviews }) => reviews,
    answers: classified(labelled),
  }),
  "classify, several labels": headCase({
    ...{ pipeline: "classify", model: "classify-multi-label" },
    inputs: ({ reviews }) => reviews,
    answers: classified(severalLabels),
  }),
  "classify, pairs": headCase<Pair>({
    ...{ pipeline: "classify", model: "classify-pair" },
    inputs: ({ pairs }) => pairs,
    answers: classified(labelled),
  }),
  regression: headCase({
    ...{ pipeline: "classify", model: "regression", choice: { input: "text" } },
    inputs: ({ reviews }) => reviews,
    answers: classified(regression),
  }),
  "zero-shot": headCase<readonly [string, readonly string[]]>({
    ...{ pipeline: "zero-shot", model: "classify-pair" },
    inputs: ({ sentences }) => sentences.map((text) => [text, CANDIDATES] as const),
    answers: (ask, inputs) =>
      inParts(inputs, async (part) => {
        const body = { inputs: part.map(([text]) => text), candidate_labels: CANDIDATES };
        return ((await ask("/v1/zero-shot", body)) as ZeroShotResponse).results.map(labelled);
      }),
  }),
  rerank: headCase<readonly [string, readonly string[]]>({
    ...{ pipeline: "rerank", model: "rerank" },
    inputs: ({ sentences }) =>
      sentences.map((query, i) => {
        const others = Array.from({ length: DOCUMENTS }, (_, n) => sentences[(i + n + 1) % sentences.length] as string);
        return [query, others] as const;
      }),
    async answers(ask, inputs) {
      const found: HeadAnswer[] = [];
      for (const [query, documents] of inputs) {
        const { results } = (await ask("/v1/rerank", { query, documents })) as RerankResponse;
        found.push({
          text: results.map(({ index }) => index).join(" "),
          numbers: results.map(({ relevance_score }) => relevance_score),
          choices: [{ pick: String(results[0]?.index) }],
        });
      }
      return found;
    },
  }),
  tag: headCase<string>({
    ...{ pipeline: "tag", model: "tag" },
    inputs: ({ posts }) => posts,
    answers: tagged,
  }),
  answer: headCase<Pair>({
    ...{ pipeline: "answer", model: "answer" },
    inputs: ({ questions }) => questions,
    answers: (ask, inputs) =>
      inParts(inputs, async (part) => {
        const body = { inputs: part.map(([question, context]) => ({ question, context })) };
        const { results } = (await ask("/v1/answer", body)) as AnswerResponse;
        return results.map((answers) => {
          const [best] = answers;
          const place = `${best?.start} ${best?.end}`;
          return { text: `${place} ${best?.answer}`, numbers: scoresOf(answers), choices: [{ pick: place }] };
        });
      }),
  }),
  "fill-mask": headCase<string>({
    ...{ pipeline: "fill-mask", model: "fill-mask", choice: { task: "fill-mask" } },
    inputs: ({ sentences }) => sentences.map(masked),
    answers: (ask, inputs) =>
      inParts(inputs, async (part) => {
        const { results } = (await ask("/v1/fill-mask", { inputs: part })) as FillMaskResponse;
        return results.map(([tokens = []]) => ({
          text: `${tokens.map(({ token }) => token).join(" ")}\n${tokens[0]?.sequence}`,
          numbers: scoresOf(tokens),
          choices: [{ pick: String(tokens[0]?.token_id) }],
        }));
      }),
  }),
  sparse: headCase<string>({
    ...{ pipeline: "sparse", model: "sparse", choice: { task: "sparse" } },
    inputs: ({ sentences }) => sentences,
    answers: (ask, inputs) =>
      inParts(inputs, async (part) =>
        ((await ask("/v1/sparse", { inputs: part })) as SparseResponse).embeddings.map(sparse),
      ),
  }),
  "token-vectors": headCase<string>({
    ...{ pipeline: "token-vectors", model: "token-vectors" },
    inputs: ({ sentences }) => sentences,
    answers: (ask, inputs) =>
      inParts(inputs, async (part) => {
        const { embeddings } = (await ask("/v1/token-vectors", { inputs: part })) as TokenVectorsResponse;
        return (embeddings as number[][][]).map((rows) => ({
          text: String(rows.length),
          numbers: rows.flat(),
          choices: [],
        }));
      }),
  }),
};
