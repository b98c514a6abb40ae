import { setTimeout as sleep } from "node:timers/promises";
import { BUDGET_HEADER } from "#sdk/serve/contract/headers.ts";
import type { Access } from "../fixtures/start-embed.ts";
import { connection } from "./connection.ts";
import { embedRequest } from "./requests.ts";
import { manyWords, type RightAnswers } from "./right.ts";
import { readSlowly } from "./slow-reader.ts";
import { newTally, note, type Tally } from "./tally.ts";

/** Requests for one word each, from many clients with one key. */
export interface Flood extends RightAnswers {
  readonly access: Access;
  /** Clients that each send their next request when the last one is answered, or when a refusal says so. */
  readonly clients: number;
  /** Clients among them that ask for the vectors of 2,048 words, and read the answer slowly. */
  readonly slowClients: number;
  /** Milliseconds; undefined sends requests without a budget. */
  readonly budgetMs: number | undefined;
}

export interface Flooded extends Tally {
  /** Outcomes of the slow readers. */
  readonly slow: Record<string, number>;
}

/** Bytes per second of a slow reader. */
const SLOW_BYTES = 1_000;

export const budgetHeaders = (budgetMs: number | undefined): Readonly<Record<string, string>> =>
  budgetMs === undefined ? {} : { [BUDGET_HEADER]: `${budgetMs}` };

/** Sends requests until `signal` is aborted. */
export async function flood(options: Flood, signal: AbortSignal): Promise<Flooded> {
  const { access, clients, slowClients, budgetMs, right, rightBeginnings } = options;
  const tally: Flooded = { ...newTally(), slow: {} };
  const words = Object.keys(right);
  const headers = budgetHeaders(budgetMs);
  const requests = words.map((word) => embedRequest(access, [word], { headers }));
  const large = embedRequest(access, manyWords(), {
    headers: { ...headers, connection: "close" },
    format: "float",
  });
  const pause = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => {});

  async function quick(client: number): Promise<void> {
    const line = connection(access.url);
    signal.addEventListener("abort", line.close);
    for (let turn = client; !signal.aborted; turn++) {
      const which = turn % words.length;
      const answered = line.ask(requests[which] as Buffer);
      const pauseMs = await note(tally, answered, { text: words[which] as string, right, signal });
      if (pauseMs > 0) await pause(pauseMs);
    }
  }

  async function slow(): Promise<void> {
    while (!signal.aborted) {
      const answer = await readSlowly({ url: access.url, request: large, bytesPerSecond: SLOW_BYTES, signal });
      tally.slow[answer.outcome] = (tally.slow[answer.outcome] ?? 0) + 1;
      const vectors = answer.read.slice(answer.read.indexOf("[["));
      const isRight = (beginning: string) => beginning.startsWith(vectors) || vectors.startsWith(beginning);
      if (answer.read.includes("[[") && !rightBeginnings.some(isRight))
        tally.wrong.push(`slow: ${vectors.slice(0, 300)}`);
      if (answer.outcome !== "200") await pause(answer.pauseMs);
    }
  }

  await Promise.all([
    ...Array.from({ length: clients - slowClients }, (_, client) => quick(client)),
    ...Array.from({ length: slowClients }, slow),
  ]);
  return tally;
}
