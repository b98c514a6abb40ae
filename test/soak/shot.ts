import { answerCall } from "#sdk/runtime/tasks/answer.ts";
import { embedCall } from "#sdk/runtime/tasks/embed.ts";
import { mapResult } from "#sdk/runtime/tasks/map-result.ts";
import { rerankCall } from "#sdk/runtime/tasks/rerank.ts";
import { tagCall } from "#sdk/runtime/tasks/tag.ts";
import type { TaskCall } from "#sdk/runtime/tasks/task-call.ts";
import type { Truncation } from "#sdk/runtime/truncation.ts";
import { ANSWER_MODEL, PAIR_MODEL, TAG_MODEL } from "./models.ts";

/** A request of the mix. */
export interface Shot {
  readonly kind: string;
  readonly model: string;
  readonly route: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Statuses that are right, apart from those under load. */
  readonly statuses: readonly number[];
  /** Refusals that are right, by their code. */
  readonly refusals: readonly string[];
  /** Expected answer; undefined if the request is wrong. */
  readonly expected?: Expected | undefined;
}

/** An answer, as a computation in this process, and as the content of the response. */
interface Expected {
  readonly call: TaskCall<unknown>;
  /** Returns the part of a response that the result of the call is compared with. */
  found(content: never): unknown;
}

/** Parts of a shot that differ from the usual ones. */
export interface Change extends Partial<Pick<Shot, "model" | "headers" | "statuses" | "refusals" | "body">> {
  readonly truncate?: Truncation;
  readonly poolChunks?: boolean;
}

const RIGHT = { headers: {}, statuses: [200], refusals: [] } as const;

export function embedShot(model: string, kind: string, texts: readonly string[], change: Change = {}): Shot {
  const { truncate = true, poolChunks = false, ...others } = change;
  const body = JSON.stringify({ inputs: texts, truncate, pool_chunks: poolChunks });
  return {
    ...{ kind, model, route: "/v1/embed", body, ...RIGHT, ...others },
    expected: {
      call: embedCall(texts, { truncate, poolChunks }),
      found: ({ embeddings }: { embeddings: number[][] }) => embeddings.map((vector) => Float32Array.from(vector)),
    },
  };
}

export function rerankShot(kind: string, query: string, documents: readonly string[], change: Change = {}): Shot {
  const { truncate = true, poolChunks, ...others } = change;
  const body = JSON.stringify({ query, documents, truncate, return_documents: false });
  return {
    ...{ kind, model: PAIR_MODEL, route: "/v1/rerank", body, ...RIGHT, ...others },
    expected: {
      call: rerankCall(query, documents, { truncate }),
      found: ({ results }: { results: { index: number; relevance_score: number }[] }) =>
        results.map(({ index, relevance_score: score }) => ({ index, score })),
    },
  };
}

export function tagShot(kind: string, text: string, change: Change = {}): Shot {
  const { truncate = true, poolChunks, ...others } = change;
  const body = JSON.stringify({ inputs: text, truncate });
  return {
    ...{ kind, model: TAG_MODEL, route: "/v1/tag", body, ...RIGHT, ...others },
    expected: {
      call: mapResult(tagCall([text], { truncate }), (all) => all.map((found) => found.map(withoutPlaces))),
      found: ({ results }: { results: Labelled[][] }) => results.map((found) => found.map(withoutPlaces)),
    },
  };
}

export function answerShot(kind: string, question: string, context: string, change: Change = {}): Shot {
  const { truncate, poolChunks, ...others } = change;
  return {
    ...{ kind, model: ANSWER_MODEL, route: "/v1/answer", body: JSON.stringify({ question, context }), ...RIGHT },
    ...others,
    expected: {
      call: mapResult(answerCall([{ question, context }]), (all) => all.map((found) => found.map(answerOf))),
      found: ({ results }: { results: Answered[][] }) => results.map((found) => found.map(answerOf)),
    },
  };
}

// Places in responses count code points, and those of results UTF-16 units.
interface Labelled {
  readonly label: string;
  readonly score: number;
  readonly text: string;
}
const withoutPlaces = ({ label, score, text }: Labelled) => ({ label, score, text });
interface Answered {
  readonly answer: string;
  readonly score: number;
}
const answerOf = ({ answer, score }: Answered) => ({ answer, score });
