import { type HttpAnswer, headerOf } from "./answer-reader.ts";
import type { RightAnswers } from "./right.ts";

/** Counts the answers that callers have got. */
export interface Tally {
  /** Answers and refusals by status and code, and lost connections by Node's code. */
  readonly counts: Record<string, number>;
  /** Time of each answer with vectors, in ms. */
  readonly answersMs: number[];
  /** Descriptions of wrong answers. */
  readonly wrong: string[];
}

export const newTally = (): Tally => ({ counts: {}, answersMs: [], wrong: [] });

/** Milliseconds until the next request after a connection was lost. */
const LOST_PAUSE_MS = 100;

/** A request for the vector of one text. */
export interface Asked {
  readonly text: string;
  readonly right: RightAnswers["right"];
  /** Nothing is noted of requests that end after it was aborted. */
  readonly signal: AbortSignal;
}

/**
 * Notes the outcome of a request.
 *
 * @returns the milliseconds after which the caller may come again
 */
export async function note(
  { counts, answersMs, wrong }: Tally,
  answered: Promise<HttpAnswer>,
  { text, right, signal }: Asked,
): Promise<number> {
  const start = performance.now();
  const count = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  let answer: HttpAnswer;
  try {
    answer = await answered;
  } catch (error) {
    if (signal.aborted) return 0;
    count((error as NodeJS.ErrnoException).code ?? `${error}`);
    return LOST_PAUSE_MS;
  }
  if (signal.aborted) return 0;
  if (answer.status === 200) {
    count("200");
    answersMs.push(performance.now() - start);
    const vector = vectorIn(answer.body);
    if (vector === undefined || !right[text]?.includes(vector)) wrong.push(`${text}: ${answer.body}`.slice(0, 300));
    return 0;
  }
  count(nameOf(answer));
  return pauseOf(answer.head);
}

/** Returns status and code of a refusal. */
export const nameOf = ({ status, body }: Pick<HttpAnswer, "status" | "body">): string =>
  `${status} ${/"code":\s*"(\w+)"/.exec(body.toString())?.[1] ?? "not JSON"}`;

/** Returns the milliseconds that a refusal asks the caller to wait. */
export const pauseOf = (head: string): number => Number(headerOf(head, "retry-after-ms") ?? LOST_PAUSE_MS);

/** Returns the only vector of an answer in base64. */
function vectorIn(body: Buffer): string | undefined {
  const { embeddings } = JSON.parse(body.toString()) as { embeddings?: unknown[] };
  return embeddings?.length === 1 && typeof embeddings[0] === "string" ? embeddings[0] : undefined;
}
