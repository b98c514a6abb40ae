import { TIER_HEADER } from "#sdk/serve/contract/headers.ts";
import { startDirectEdge } from "#test/fixtures/direct-edge.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { figuresOf } from "../figures.ts";
import { median } from "../run-tool.ts";
import type { Context } from "./context.ts";
import { cpuMs, withProcess } from "./cpu-time.ts";
import { embed } from "./embed.ts";
import { drawTexts } from "./load/texts.ts";
import { type Report, rounded } from "./report.ts";

/** Length of the first text in tokens, with special tokens. */
const TOKENS = 256;
/** Rounds per requested round. Each starts a process. */
const ROUNDS = 5;

interface Start {
  /** Time from the start of the process to its first answer, in ms. */
  readonly ms: number;
  /** CPU time of the process until then: start, load and first request, in ms. */
  readonly cpuMs: number;
}

/** Measures the start of a Worker whose first request comes at once. With `against`, an older version starts in turn. */
export async function starts(context: Context): Promise<Report> {
  const { seed, rounds, short } = context.options;
  const random = randomNumbers(seed);
  const versions = Object.entries(context.versions).map(([name, version]) => ({
    name,
    version,
    starts: [] as Start[],
  }));
  for (let round = 0; round < (short ? 1 : ROUNDS * rounds); round++) {
    context.stage(`round ${round + 1}`);
    const text = drawTexts({ tokens: TOKENS }, random);
    for (const { version, starts } of round % 2 ? versions.toReversed() : versions) {
      const startedAt = performance.now();
      const { started: edge, pid } = await withProcess(() => startDirectEdge({ ...version, warm: false }));
      try {
        await embed(edge.url, text, { [TIER_HEADER]: "edge" });
        starts.push({ ms: performance.now() - startedAt, cpuMs: cpuMs(pid) });
      } finally {
        await edge.stop();
      }
    }
  }
  const medians = versions.map(({ name, starts }) => ({
    name,
    ms: median(starts.map(({ ms }) => ms)),
    cpuMs: median(starts.map(({ cpuMs }) => cpuMs)),
  }));
  return {
    headings: ["version", "ms to the first vector", "CPU ms"],
    rows: medians.map(({ name, ms, cpuMs }) => [name, rounded(ms, 0), rounded(cpuMs, 0)]),
    checks: [],
    figures: medians.flatMap(({ name, ms, cpuMs }) => figuresOf(name, { ms: [ms, "ms"], cpuMs: [cpuMs, "ms"] })),
    details: versions.map(({ name, starts }) => ({ name, starts })),
  };
}
