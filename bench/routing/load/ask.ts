import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import {
  BUDGET_HEADER,
  PREDICTED_HEADER,
  REASON_HEADER,
  REMAINING_HEADER,
  TIER_HEADER,
} from "#sdk/serve/contract/headers.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { type Post, type Reply, startPost } from "#test/fixtures/start-post.ts";
import type { LoadJob, Sample } from "./job.ts";
import { drawTexts } from "./texts.ts";

/** Maximum number of open connections. Further requests of an open loop wait, and the wait counts. */
const CONNECTIONS = 400;

type Answer = Omit<Sample, "client" | "turn" | "at" | "ms"> & { readonly retryAfterMs: number };

const number = (header: string | string[] | undefined): number | undefined =>
  header === undefined ? undefined : Number(header);
const text = (header: string | string[] | undefined): string | undefined => header?.toString();

/** Sends the requests of a job, and keeps a sample of each. */
export function loadClient({ url, key, length, budgetMs, pin, seed, warmMs }: LoadJob) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const headers = {
    authorization: `Bearer ${key}`,
    ...(budgetMs !== undefined && { [BUDGET_HEADER]: `${budgetMs}` }),
    ...(pin && { [TIER_HEADER]: pin }),
  };
  const samples: Sample[] = [];
  const start = performance.now() + warmMs;
  const underway = new Map<Post, Pick<Sample, "client" | "turn" | "at">>();

  /** @returns the milliseconds that a refused client is asked to wait; undefined unless it was refused */
  async function ask(client: number, turn: number, at = performance.now() - start): Promise<number | undefined> {
    const inputs = drawTexts(length, randomNumbers((seed * 1009 + client) * 100_003 + turn));
    const body = JSON.stringify({ inputs, truncate: true, encoding_format: "base64" });
    const post = startPost(`${url}/v1/embed`, { headers, body, agent });
    underway.set(post, { client, turn, at });
    const { retryAfterMs, ...answer } = await post.reply.then(readAnswer, lost);
    if (!underway.delete(post)) return undefined;
    samples.push({ client, turn, at, ms: performance.now() - start - at, ...answer });
    return isRefusal(answer.status) ? retryAfterMs : undefined;
  }

  /** Ends the run: waits until every budget is over, then resets the connections that still have no answer. */
  async function end(): Promise<readonly Sample[]> {
    if (underway.size > 0) await sleep(budgetMs ?? 0);
    for (const [post, sample] of underway) {
      samples.push({ ...sample, ms: undefined, ...noAnswer });
      post.reset();
    }
    underway.clear();
    agent.destroy();
    return samples;
  }

  return { ask, end, now: () => performance.now() - start };
}

export const isRefusal = (status: number): boolean => status === 429 || status === 503 || status === 504;

function readAnswer({ status, headers, body }: Reply): Answer {
  return {
    status,
    code: status === 200 ? undefined : /"code":\s*"(\w+)"/.exec(body.toString())?.[1],
    tier: text(headers[TIER_HEADER]),
    reason: text(headers[REASON_HEADER]),
    predictedMs: number(headers[PREDICTED_HEADER]),
    remainingMs: number(headers[REMAINING_HEADER]),
    retryAfterMs: number(headers["retry-after-ms"]) ?? 1000 * (number(headers["retry-after"]) ?? 0),
  };
}

const noAnswer = {
  status: 0,
  code: undefined,
  tier: undefined,
  reason: undefined,
  predictedMs: undefined,
  remainingMs: undefined,
};
const lost = (error: NodeJS.ErrnoException): Answer => ({ ...noAnswer, code: error.code, retryAfterMs: 0 });
