import { Agent } from "node:http";
import { timingOf } from "#sdk/serve/contract/headers.ts";
import { startDirectEdge } from "#test/fixtures/direct-edge.ts";
import { startPost } from "#test/fixtures/start-post.ts";
import { figuresOf } from "../figures.ts";
import { compared } from "./compared.ts";
import { type Context, KEY } from "./context.ts";
import { cpuMs, withProcess } from "./cpu-time.ts";
import { quantile } from "./load/statistics.ts";
import { type Report, rounded } from "./report.ts";

const REQUESTS = 500;
const WARM_UP = 1_000;
/** Rounds per requested round. A round takes less than two seconds. */
const ROUNDS = 5;
/** The Worker's clock has steps of a millisecond: with fewer requests of a tiny model, it may not move at all. */
const quickly = { requests: 500, warmUp: 30, rounds: 1 };
/** The difference between two measurements of the same Worker is below this part. */
const TOLERANCE = 0.03;

interface Round {
  /** CPU time per request, in ms. */
  readonly cpuMs: number;
  /** Time per request in the engine, in ms, as the Worker reports it. */
  readonly engineMs: number;
  readonly latencyMs: number;
}

/**
 * Measures the CPU time of a request of one word outside the engine. With `against`, an older version is measured in
 * interleaved rounds.
 */
export async function overhead(context: Context): Promise<Report> {
  const { requests, warmUp, rounds } = context.options.short
    ? quickly
    : { requests: REQUESTS, warmUp: WARM_UP, rounds: ROUNDS * context.options.rounds };
  const { versions } = context;
  await using started = new AsyncDisposableStack();
  const subjects: { name: string; url: string; pid: number; rounds: Round[] }[] = [];
  for (const [name, version] of Object.entries(versions)) {
    const { started: edge, pid } = await withProcess(() => startDirectEdge(version));
    started.defer(() => edge.stop());
    if (name === "now") await compared("edge", edge, context);
    await measure(edge.url, pid, warmUp);
    subjects.push({ name, url: edge.url, pid, rounds: [] });
  }
  for (let round = 0; round < rounds; round++) {
    context.stage(`round ${round + 1}`);
    const order = round % 2 === 0 ? subjects : subjects.toReversed();
    for (const { url, pid, rounds } of order) rounds.push(await measure(url, pid, requests));
  }
  const median = (values: readonly number[]) => quantile(values, 0.5);
  const [now, before] = subjects;
  const outside = (round: Round | undefined) => (round ? round.cpuMs - round.engineMs : Number.NaN);
  const ratios = now?.rounds.map((round, i) => outside(round) / outside(before?.rounds[i]));
  const ratio = median(ratios ?? []);
  return {
    headings: ["Worker", "CPU ms", "engine ms", "latency ms"],
    rows: subjects.map(({ name, rounds }) => [
      name,
      ...(["cpuMs", "engineMs", "latencyMs"] as const).map((part) =>
        rounded(median(rounds.map((round) => round[part])), 3),
      ),
    ]),
    checks: before
      ? [
          {
            what: "CPU outside the engine by that of the older version",
            asked: `≤ ${1 + TOLERANCE}`,
            measured: rounded(ratio, 3),
            holds: ratio <= 1 + TOLERANCE,
          },
        ]
      : [],
    figures: subjects.flatMap(({ name, rounds }) =>
      (["cpuMs", "engineMs", "latencyMs"] as const).flatMap((part) =>
        figuresOf(name, { [part]: [median(rounds.map((round) => round[part])), "ms"] }),
      ),
    ),
    details: subjects,
  };
}

/** Sends requests of one word one after another, over one connection. */
async function measure(url: string, pid: number, requests: number): Promise<Round> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const body = JSON.stringify({ inputs: ["word"], encoding_format: "base64" });
  const headers = { authorization: `Bearer ${KEY}` };
  const start = cpuMs(pid);
  let engineMs = 0;
  const latencies: number[] = [];
  for (let i = 0; i < requests; i++) {
    const reply = await startPost(`${url}/v1/embed`, { headers, body, agent }).reply;
    engineMs += timingOf(`${reply.headers["server-timing"]}`, "compute");
    latencies.push(reply.ms);
  }
  const used = cpuMs(pid) - start;
  agent.destroy();
  return {
    cpuMs: used / requests,
    engineMs: engineMs / requests,
    latencyMs: quantile(latencies, 0.5),
  };
}
