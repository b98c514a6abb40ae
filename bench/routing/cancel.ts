import { setTimeout as sleep } from "node:timers/promises";
import { deployedCompatibility, startDirectEdge } from "#test/fixtures/direct-edge.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { startEmbed } from "#test/fixtures/start-embed.ts";
import type { Check } from "../checks.ts";
import { figuresOf } from "../figures.ts";
import { type Abandonment, abandonRequests } from "./abandon-requests.ts";
import { compared } from "./compared.ts";
import { type Context, KEY } from "./context.ts";
import { idleMs, settle } from "./idle.ts";
import { quantile } from "./load/statistics.ts";
import { drawTexts } from "./load/texts.ts";
import { type Report, rounded } from "./report.ts";
import { startEdgeAlone, startRegion } from "./tiers.ts";

const REQUESTS = 200;
const SHORT_REQUESTS = 10;
const TEXTS = 8;
/** Time after the last reset, in which the engine may end the call that it cannot interrupt. */
const PAUSE_MS = 100;
const MAX_RATIO = 2;
/** Later rounds are left out when the next request took this multiple of its idle time. */
const HOPELESS = 50;
/** The compatibility flag with which a Worker hears that a client has gone. */
const FLAG = "enable_request_signal";

interface Case {
  readonly name: string;
  readonly by: Abandonment["by"];
  /** Whether the next request must be as fast as on an idle tier. */
  readonly fast: boolean;
  start(context: Context): Promise<{ url: string; stop(): Promise<void> }>;
}

const withoutFlag = async (context: Context) => {
  const compatibilityFlags = deployedCompatibility().flags.filter((flag) => flag !== FLAG);
  return compared("edge", await startDirectEdge({ ...context, compatibilityFlags }), context);
};

const cases: readonly Case[] = [
  { name: "edge, reset", by: "reset", fast: true, start: startEdgeAlone },
  { name: `edge without ${FLAG}, reset`, by: "reset", fast: false, start: withoutFlag },
  { name: "region, reset", by: "reset", fast: true, start: startRegion },
  { name: "region, close", by: "close", fast: true, start: startRegion },
];

interface Measured {
  readonly name: string;
  readonly fast: boolean;
  readonly idle: number;
  readonly whole: number;
  /** Time of the first one-word request after the last reset, and of one that is sent `PAUSE_MS` later, per round. */
  readonly rounds: readonly { readonly atOnce: number; readonly later: number }[];
}

/** Measures the next request after many requests whose clients have gone. */
export async function cancel(context: Context): Promise<Report> {
  const measured: Measured[] = [];
  for (const each of cases) {
    context.stage(each.name);
    measured.push(await measure(each, context));
  }
  const later = ({ rounds, idle }: Measured) =>
    quantile(
      rounds.map(({ later }) => later),
      0.5,
    ) / idle;
  return {
    headings: ["case", "rounds", "idle ms", `${TEXTS} long texts ms`, "next ms", `next after ${PAUSE_MS} ms`],
    rows: measured.map(({ name, idle, whole, rounds }) => [
      name,
      `${rounds.length}`,
      rounded(idle, 1),
      rounded(whole, 1),
      rounds.map(({ atOnce }) => rounded(atOnce, 1)).join(", "),
      rounds.map(({ later }) => rounded(later, 1)).join(", "),
    ]),
    checks: measured.map(
      (each): Check => ({
        what: `next one-word request by its idle time, ${each.name}`,
        asked: `${each.fast ? "≤" : ">"} ${MAX_RATIO}`,
        measured: rounded(later(each), 1),
        holds: later(each) <= MAX_RATIO === each.fast,
      }),
    ),
    figures: measured.flatMap((each) =>
      figuresOf(each.name, {
        idle: [each.idle, "ms"],
        [`${TEXTS} long texts`]: [each.whole, "ms"],
        "next by idle": [later(each), "of its time"],
      }),
    ),
    details: measured,
  };
}

async function measure({ name, by, fast, start }: Case, context: Context): Promise<Measured> {
  const { rounds, seed, short, quick } = context.options;
  const tier = await start(context);
  const access = { url: tier.url, key: KEY };
  const random = randomNumbers(seed);
  const inputs = Array.from({ length: TEXTS }, () => drawTexts("long", random)).flat();
  const word = async () => (await startEmbed(access, drawTexts("word", random)).reply).ms;
  try {
    await idleMs(tier.url, inputs, 3);
    const idle = await idleMs(tier.url, drawTexts("word", random));
    const whole = await idleMs(tier.url, inputs, 3);
    const results: { atOnce: number; later: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const requests = short ? SHORT_REQUESTS : REQUESTS / (quick ? 4 : 1);
      await abandonRequests(access, { requests, inputs, wholeMs: whole, by, random });
      const next = word();
      await sleep(PAUSE_MS);
      const later = await word();
      results.push({ atOnce: await next, later });
      if (later > HOPELESS * idle) break;
      await settle([tier.url]);
    }
    return { name, fast, idle, whole, rounds: results };
  } finally {
    await tier.stop();
  }
}
