import { PREDICTED_HEADER, TIER_HEADER } from "#sdk/serve/contract/headers.ts";
import { timingOf } from "#sdk/serve/server-timing.ts";
import { startDirectEdge } from "#test/fixtures/direct-edge.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { startEmbed } from "#test/fixtures/start-embed.ts";
import { figuresOf } from "../figures.ts";
import { median } from "../run-tool.ts";
import { type Context, KEY } from "./context.ts";
import { EDGE_CORES, onCores } from "./cores.ts";
import { drawTexts } from "./load/texts.ts";
import { type Report, rounded } from "./report.ts";

/** Lengths of texts in tokens, with special tokens. */
const LENGTHS = [16, 128, 256];
const CALLS = 20;
/** Calls after which an engine is as fast as it becomes. */
const STEADY_CALLS = 40;
/** Rounds per requested round. Each starts a process. */
const ROUNDS = 3;
/** The calls that the table shows, from 1. */
const SHOWN = [1, 2, 3, 4, 5, 7, 10, 15, 20];

/** Times of a call in ms: measured by the client, measured by the Worker, and predicted by it. */
interface Call {
  readonly ms: number;
  readonly computeMs: number;
  readonly predictedMs: number;
}

/**
 * Measures the first calls of a Worker that has just loaded its model. V8 begins with code that it compiles fast, and replaces
 * it function by function with faster code when a function has run long enough.
 */
export async function firstCalls(context: Context): Promise<Report> {
  const { seed, rounds, short } = context.options;
  const lengths = short ? LENGTHS.slice(0, 1) : LENGTHS;
  const random = randomNumbers(seed);
  const found = new Map<number, Call[][]>(lengths.map((tokens) => [tokens, []]));
  for (let round = 0; round < (short ? 1 : ROUNDS * rounds); round++) {
    for (const tokens of lengths) {
      context.stage(`round ${round + 1}, ${tokens} tokens`);
      await using started = new AsyncDisposableStack();
      const edge = await onCores(EDGE_CORES, () => startDirectEdge(context));
      started.defer(() => edge.stop());
      const calls: Call[] = [];
      for (let call = 0; call < CALLS + STEADY_CALLS; call++) {
        const access = { url: edge.url, key: KEY };
        const { status, body, headers, ms } = await startEmbed(access, drawTexts({ tokens }, random), {
          [TIER_HEADER]: "edge",
        }).reply;
        if (status !== 200) throw new Error(`The edge answered ${status}: ${body}`);
        const computeMs = timingOf(`${headers["server-timing"]}`, "compute");
        calls.push({ ms, computeMs, predictedMs: Number(headers[PREDICTED_HEADER]) });
      }
      found.get(tokens)?.push(calls);
    }
  }
  const medianOf = (tokens: number, of: (calls: readonly Call[]) => number) =>
    median((found.get(tokens) ?? []).map(of));
  const rows = lengths.map((tokens) => {
    const steady = medianOf(tokens, (calls) => median(calls.slice(CALLS).map(({ ms }) => ms)));
    const shown = SHOWN.map((call) => ({
      ms: medianOf(tokens, (calls) => calls[call - 1]?.ms ?? Number.NaN),
      predicted: medianOf(tokens, (calls) => calls[call - 1]?.predictedMs ?? Number.NaN),
    }));
    return { tokens, steady, shown };
  });
  return {
    headings: ["tokens", "ms of call", ...SHOWN.map((call) => `${call}`), "steady"],
    rows: rows.flatMap(({ tokens, steady, shown }) => [
      [`${tokens}`, "measured", ...shown.map(({ ms }) => rounded(ms, 1)), rounded(steady, 1)],
      ["", "predicted", ...shown.map(({ predicted }) => rounded(predicted, 1)), ""],
    ]),
    checks: [],
    figures: rows.flatMap(({ tokens, steady, shown }) =>
      figuresOf(`${tokens} tokens`, { first: [shown[0]?.ms, "ms"], steady: [steady, "ms"] }),
    ),
    details: Object.fromEntries(found),
  };
}
