import { PREDICTED_HEADER, TIER_HEADER, timingOf } from "#sdk/serve/contract/headers.ts";
import { startDirectEdge } from "#test/fixtures/direct-edge.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { figuresOf } from "../figures.ts";
import { median } from "../run-tool.ts";
import type { Context } from "./context.ts";
import { EDGE_CORES, onCores } from "./cores.ts";
import { embed } from "./embed.ts";
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
 * it function by function with faster code when a function has run long enough. With `against`, an older version starts in turn.
 */
export async function firstCalls(context: Context): Promise<Report> {
  const { seed, rounds, short } = context.options;
  const lengths = short ? LENGTHS.slice(0, 1) : LENGTHS;
  const random = randomNumbers(seed);
  const versions = Object.entries(context.versions);
  const subjects = lengths.flatMap((tokens) =>
    versions.map(([name, version]) => ({ name, version, tokens, rounds: [] as Call[][] })),
  );
  for (let round = 0; round < (short ? 1 : ROUNDS * rounds); round++) {
    context.stage(`round ${round + 1}`);
    for (const { version, tokens, rounds } of round % 2 ? subjects.toReversed() : subjects) {
      await using started = new AsyncDisposableStack();
      const edge = await onCores(EDGE_CORES, () => startDirectEdge(version));
      started.defer(() => edge.stop());
      const calls: Call[] = [];
      for (let call = 0; call < CALLS + STEADY_CALLS; call++) {
        const { headers, ms } = await embed(edge.url, drawTexts({ tokens }, random), { [TIER_HEADER]: "edge" });
        const computeMs = timingOf(`${headers["server-timing"]}`, "compute");
        calls.push({ ms, computeMs, predictedMs: Number(headers[PREDICTED_HEADER]) });
      }
      rounds.push(calls);
    }
  }
  const rows = subjects.map(({ name, tokens, rounds }) => {
    const medianOf = (of: (calls: readonly Call[]) => number) => median(rounds.map(of));
    const steady = medianOf((calls) => median(calls.slice(CALLS).map(({ ms }) => ms)));
    const shown = SHOWN.map((call) => ({
      ms: medianOf((calls) => calls[call - 1]?.ms ?? Number.NaN),
      predicted: medianOf((calls) => calls[call - 1]?.predictedMs ?? Number.NaN),
    }));
    return { name, tokens, steady, shown };
  });
  return {
    headings: ["tokens", "version", "ms of call", ...SHOWN.map((call) => `${call}`), "steady"],
    rows: rows.flatMap(({ name, tokens, steady, shown }) => [
      [`${tokens}`, name, "measured", ...shown.map(({ ms }) => rounded(ms, 1)), rounded(steady, 1)],
      ["", "", "predicted", ...shown.map(({ predicted }) => rounded(predicted, 1)), ""],
    ]),
    checks: [],
    figures: rows.flatMap(({ name, tokens, steady, shown }) =>
      figuresOf(`${tokens} tokens, ${name}`, { first: [shown[0]?.ms, "ms"], steady: [steady, "ms"] }),
    ),
    details: subjects.map(({ name, tokens, rounds }) => ({ name, tokens, rounds })),
  };
}
