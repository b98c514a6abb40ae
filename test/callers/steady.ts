import { setTimeout as sleep } from "node:timers/promises";
import type { Access } from "../fixtures/start-embed.ts";
import { type Connection, connection } from "./connection.ts";
import { budgetHeaders } from "./flood.ts";
import { embedRequest } from "./requests.ts";
import type { RightAnswers } from "./right.ts";
import { newTally, note, type Tally } from "./tally.ts";

/** Requests for one word each at fixed times, whether or not earlier ones were answered. */
export interface Steady extends Pick<RightAnswers, "right"> {
  readonly access: Access;
  /** Milliseconds from one request to the next. */
  readonly everyMs: number;
  /** Milliseconds in which requests are sent. */
  readonly durationMs: number;
  /** Milliseconds; undefined sends requests without a budget. */
  readonly budgetMs: number | undefined;
}

/** Time for which the last requests wait for their answers, in ms. */
const LAST_MS = 20_000;
const UNANSWERED = "no answer";

/**
 * Sends the requests, until `signal` is aborted at the latest, and waits for their answers. A request without an answer counts with the time for which it has waited. Returns
 * when all have ended.
 */
export async function steady(
  { access, everyMs, durationMs, budgetMs, right }: Steady,
  signal?: AbortSignal,
): Promise<Tally> {
  const tally = newTally();
  const over = new AbortController();
  const headers = budgetHeaders(budgetMs);
  const requests = Object.keys(right).map((text) => ({ text, request: embedRequest(access, [text], { headers }) }));
  const idle: Connection[] = [];
  const all = new Set<Connection>();
  const waiting = new Map<Promise<unknown>, number>();
  const start = performance.now();
  for (let turn = 0; turn * everyMs < durationMs && !signal?.aborted; turn++) {
    await sleep(Math.max(0, start + turn * everyMs - performance.now()));
    const { text, request } = requests[turn % requests.length] as (typeof requests)[number];
    const line = idle.pop() ?? connection(access.url);
    all.add(line);
    const noted = note(tally, line.ask(request), { text, right, signal: over.signal }).then(() => {
      waiting.delete(noted);
      idle.push(line);
    });
    waiting.set(noted, performance.now());
  }
  await Promise.race([Promise.all(waiting.keys()), sleep(LAST_MS, undefined, { ref: false })]);
  for (const sentAt of waiting.values()) {
    tally.counts[UNANSWERED] = (tally.counts[UNANSWERED] ?? 0) + 1;
    tally.answersMs.push(performance.now() - sentAt);
  }
  over.abort();
  for (const line of all) line.close();
  return tally;
}
