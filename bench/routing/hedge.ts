import { setTimeout as sleep } from "node:timers/promises";
import { BUDGET_HEADER, DECISION_HEADER, PREDICTED_HEADER } from "#sdk/serve/contract/headers.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { startEmbed } from "#test/fixtures/start-embed.ts";
import { figuresOf } from "../figures.ts";
import { median } from "../run-tool.ts";
import { type Context, KEY } from "./context.ts";
import { idleMs } from "./idle.ts";
import { drawTexts } from "./load/texts.ts";
import { percent, type Report, rounded } from "./report.ts";
import { startTiers } from "./tiers.ts";

const TEXTS = 8;
const TURNS = 5;
/** Budgets as multiples of the predicted time. Around 1 it is uncertain whether the edge keeps the budget. */
const BUDGETS = [0.9, 1, 1.1, 1.25, 1.5];
/** Time in which a hedged request and its answer pass the proxy after the edge's answer. */
const REST_MS = 50;

/** A request of which the edge and the region were asked at once. */
interface Hedge {
  readonly budget: number;
  /** Time from the hedged request's arrival at the proxy to the end of the edge's computation at the earliest, in ms. */
  readonly beforeEndMs: number;
  /** Whether the hedged request's connection was opened for it. */
  readonly isNewConnection: boolean;
}

/**
 * Looks for requests that the edge computes and also sends to the region. All connections to the region are closed
 * before each request, so a hedged request needs a new one.
 */
export async function hedge(context: Context): Promise<Report> {
  const { seed, rounds, short } = context.options;
  const turns = (short ? 1 : TURNS) * rounds;
  await using tiers = await startTiers(context);
  const { edge, proxy } = tiers;
  const random = randomNumbers(seed);
  const inputs = Array.from({ length: TEXTS }, () => drawTexts("long", random)).flat();
  await idleMs(edge.url, inputs, 5);
  const access = { url: edge.url, key: KEY };
  const hedges: Hedge[] = [];
  const predictions: number[] = [];
  const tiersOf: Record<string, number> = {};
  for (let turn = 0; turn < turns; turn++) {
    for (const budget of BUDGETS) {
      context.stage(`budget ${budget} × predicted`);
      const { headers } = await startEmbed(access, inputs).reply;
      const predictedMs = Number(headers[PREDICTED_HEADER]);
      predictions.push(predictedMs);
      proxy.cut();
      await sleep(REST_MS);
      const sentAt = performance.now();
      const before = proxy.passages.length;
      const reply = await startEmbed(access, inputs, { [BUDGET_HEADER]: (budget * predictedMs).toFixed(1) }).reply;
      const answeredAt = sentAt + reply.ms;
      await sleep(REST_MS);
      const tier = `${reply.headers["x-bert-edge-tier"]}`;
      tiersOf[tier] = (tiersOf[tier] ?? 0) + 1;
      const passage = proxy.passages.slice(before).find(({ path }) => path === "/v1/outputs");
      if (!passage || !/\bhedge\b/.test(`${reply.headers[DECISION_HEADER]}`)) continue;
      // If the region's answer came first, the edge's computation was still running then.
      hedges.push({
        budget,
        beforeEndMs: answeredAt - passage.at,
        isNewConnection: passage.isFirst && passage.openedAt >= sentAt,
      });
    }
  }
  const early = hedges.filter(({ beforeEndMs, isNewConnection }) => beforeEndMs > 0 && isNewConnection);
  const requests = turns * BUDGETS.length;
  return {
    headings: [
      "requests",
      "answered by",
      "hedges",
      "on a new connection, before the edge's end",
      "ms before its end, at least",
    ],
    rows: [
      [
        `${requests}`,
        JSON.stringify(tiersOf),
        `${hedges.length} (${percent(hedges.length / requests)})`,
        `${early.length}`,
        early.map(({ beforeEndMs }) => rounded(beforeEndMs)).join(", "),
      ],
    ],
    checks: [
      {
        what: "hedged requests that reach the region on a new connection while the edge computes",
        asked: "≥ 1",
        measured: `${early.length}`,
        holds: early.length > 0,
      },
    ],
    figures: figuresOf("requests", {
      answered: [Object.values(tiersOf).reduce((sum, count) => sum + count, 0), "count"],
      hedged: [hedges.length / requests, "share"],
      predicted: [median(predictions), "ms"],
    }),
    details: hedges,
  };
}
