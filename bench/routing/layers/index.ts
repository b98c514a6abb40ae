import { join } from "node:path";
import type { V4ModuleDefinition } from "miniflare";
import { loadTokenizer } from "#sdk/runtime/tokenizer/load-tokenizer.ts";
import { startDirectEdge } from "#test/fixtures/direct-edge.ts";
import { startPost } from "#test/fixtures/start-post.ts";
import { workerModules } from "#test/fixtures/worker-modules.ts";
import { figuresOf } from "../../figures.ts";
import { compared } from "../compared.ts";
import { type Context, KEY } from "../context.ts";
import { cpuMs, withProcess } from "../cpu-time.ts";
import { quantile } from "../load/statistics.ts";
import { type Report, rounded } from "../report.ts";
import { flood } from "./flood.ts";

/** Numbers of clients: one that waits for each answer, and enough to keep the Worker busy. */
const CLIENTS = [1, 32] as const;
const REQUESTS = 3_000;
const WARM_UP = 6_000;
/** Rounds per requested round. */
const ROUNDS = 3;
/** Asked of the Worker without its engine: this part of the bare handler's requests per second. */
const SHARE = 0.5;
const quickly = { requests: 50, warmUp: 50, rounds: 1 };

const TEXT = "word";
const body = JSON.stringify({ inputs: [TEXT], encoding_format: "base64" });
const headers = { authorization: `Bearer ${KEY}` };

interface Measurement {
  readonly perSecond: number;
  /** CPU time of the process per request, in µs. */
  readonly cpuUs: number;
}

/** A Worker, and what it has that those before it lack. */
interface Subject {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  /** For each number of clients, a measurement of each round. */
  readonly rounds: readonly Measurement[][];
}

/**
 * Measures requests of one word to Workers that have more and more parts, in interleaved rounds: a handler that only reads the JSON
 * and returns the same bytes, the app's middleware before it, the app with an engine that computes nothing, and the whole.
 */
export async function layers(context: Context): Promise<Report> {
  const { requests, warmUp, rounds } = context.options.short
    ? quickly
    : { requests: REQUESTS, warmUp: WARM_UP, rounds: ROUNDS * context.options.rounds };
  await using started = new AsyncDisposableStack();

  async function start(name: string, modules: V4ModuleDefinition[], env: Context["env"]): Promise<Subject> {
    const { started: edge, pid } = await withProcess(() => startDirectEdge({ modules, env }));
    started.defer(() => edge.stop());
    return { name, pid, url: `${edge.url}/v1/embed`, rounds: CLIENTS.map(() => []) };
  }
  const worker = (file: string) => workerModules({ entryPoints: [join(import.meta.dirname, "workers", file)] });

  const whole = await start("+ engine", context.modules, context.env);
  await compared("edge", { url: new URL(whole.url).origin }, context);
  const { body: answer } = await startPost(whole.url, { headers, body }).reply;
  const env = { ...context.env, ANSWER: `${answer}` };
  const bare = await start("bare handler", await worker("bare.ts"), env);
  const guarded = await start("+ request id, key, limits", await worker("guarded.ts"), env);
  const app = await start("+ contract, tokenizer, queue, answer", await worker("null-engine.ts"), env);
  const subjects = [bare, guarded, app, whole];

  for (const { url, pid } of subjects) await measure(url, pid, 8, warmUp);
  for (let round = 0; round < rounds; round++) {
    context.stage(`round ${round + 1}`);
    for (const [i, clients] of CLIENTS.entries()) {
      for (const { url, pid, rounds } of round % 2 === 0 ? subjects : subjects.toReversed()) {
        rounds[i]?.push(await measure(url, pid, clients, requests));
      }
    }
  }

  const tokenizerUs = await tokenizing(context, warmUp);
  return {
    headings: ["Worker", ...CLIENTS.flatMap((n) => [`requests/s, ${n} at a time`, "CPU µs", "adds µs"])],
    rows: [
      ...subjects.map((subject, i) => [
        subject.name,
        ...CLIENTS.flatMap((_, n) => [
          rounded(median(subject, n, "perSecond")),
          rounded(median(subject, n, "cpuUs"), 1),
          rounded(median(subject, n, "cpuUs") - (i > 0 ? median(subjects[i - 1] as Subject, n, "cpuUs") : 0), 1),
        ]),
      ]),
      ["  of which the tokenizer", ...CLIENTS.flatMap(() => ["", "", rounded(tokenizerUs, 1)])],
    ],
    checks: CLIENTS.map((clients, n) => {
      const share = shareOf(app.rounds[n] ?? [], bare.rounds[n] ?? []);
      return {
        what: `requests per second without the engine, by those of the bare handler, ${clients} at a time`,
        asked: `≥ ${SHARE}`,
        measured: rounded(share, 2),
        holds: share >= SHARE,
      };
    }),
    figures: subjects.flatMap((subject) =>
      CLIENTS.flatMap((clients, n) =>
        figuresOf(`${subject.name}, ${clients} at a time`, {
          requests: [median(subject, n, "perSecond"), "per second"],
          CPU: [median(subject, n, "cpuUs") / 1_000, "ms"],
        }),
      ),
    ),
    details: subjects,
  };
}

async function measure(url: string, pid: number, clients: number, requests: number): Promise<Measurement> {
  const before = cpuMs(pid);
  const ms = await flood({ url, body, headers, clients, requests });
  return { perSecond: (1_000 * requests) / ms, cpuUs: (1_000 * (cpuMs(pid) - before)) / requests };
}

const median = ({ rounds }: Subject, n: number, part: keyof Measurement): number =>
  quantile(
    (rounds[n] ?? []).map((round) => round[part]),
    0.5,
  );

const shareOf = (own: readonly Measurement[], others: readonly Measurement[]): number =>
  quantile(
    own.map(({ perSecond }, i) => perSecond / (others[i]?.perSecond ?? Number.NaN)),
    0.5,
  );

/** Returns the µs of encoding the text, in this process. */
async function tokenizing({ artifact: { manifest, read } }: Context, times: number): Promise<number> {
  const tokenizer = await loadTokenizer(manifest, read);
  const encode = (times: number) => {
    const start = performance.now();
    for (let i = 0; i < times; i++) tokenizer.encode(TEXT, manifest.maxTokens);
    return (1_000 * (performance.now() - start)) / times;
  };
  encode(times);
  return encode(times);
}
