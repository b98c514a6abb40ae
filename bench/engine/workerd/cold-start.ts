import { join } from "node:path";
import { parity } from "#sdk/compile/accuracy/parity.ts";
import { median } from "../../run-tool.ts";
import type { Context } from "../context.ts";
import { type Measured, milliseconds } from "../measured.ts";
import { computed, publishForm } from "./publish-form.ts";
import { startWorker, vectorsOf, type WorkerOptions } from "./running-worker.ts";
import { type WorkerName, workerModules } from "./worker-modules.ts";

/** Number of rounds. It is a multiple of the number of orders, so that each order runs equally often. */
const ROUNDS = 24;
const SHORT_ROUNDS = 1;

/**
 * A text of typical words: half of the sentences in STS-B contain a rarer word. Our engine answers as soon as the token
 * embeddings of the text have arrived. Rare words take longer, because their rows are near the end of the token
 * embedding table.
 */
const TYPICAL = "Is the shepherd in the driveway?";
/** A word whose embedding is in one of the last rows of the token embedding table. */
const RARE = "Necessitated";

const cases = {
  none: { worker: "none", text: TYPICAL },
  wasm: { worker: "wasm", text: TYPICAL },
  "wasm, rare word": { worker: "wasm", text: RARE },
  "ort-web": { worker: "ort-web", text: TYPICAL },
} as const satisfies Record<string, { worker: WorkerName; text: string }>;
type Case = keyof typeof cases;
const names = Object.keys(cases) as Case[];

/**
 * Orders of the cases in a round. The orders form a Latin square: each case comes first equally often, and follows
 * every other case equally often. The order matters because the process of the previous case may still be shutting
 * down.
 */
const orders = [
  ["none", "wasm", "ort-web", "wasm, rare word"],
  ["wasm", "wasm, rare word", "none", "ort-web"],
  ["wasm, rare word", "ort-web", "wasm", "none"],
  ["ort-web", "none", "wasm, rare word", "wasm"],
] as const satisfies readonly (readonly Case[])[];

/**
 * Times of one start in milliseconds. They are measured from outside the Worker, because the clock inside a Worker
 * stands still during computation.
 */
interface Start {
  /** From the start of the process until the Worker accepts requests. By then, the Worker's code has been evaluated. */
  readonly ready: number;
  /** From the first request to its answer. */
  readonly request: number;
  /** Vector of the text; none without a model. */
  readonly vectors: readonly Float32Array[];
}

/**
 * Measures the time from the start of a Worker's process to its first vector. The time of a Worker without a model is
 * subtracted.
 */
export async function coldStart(context: Context): Promise<Measured> {
  const subject = await context.subject("given");
  const folder = join(context.folder, "cold");
  await publishForm({ subject, form: "wasm", name: "wasm", engine: "wasm", precision: "int8-edge" }, folder);
  await publishForm({ subject, form: "int8", name: "ort-web", engine: "ort-web", precision: "int8" }, folder);
  const options = new Map<WorkerName, WorkerOptions>();
  for (const { worker: model } of Object.values(cases)) {
    options.set(model, { modules: await workerModules(model), model, folder });
  }
  const rounds: Record<Case, Start>[] = [];
  for (let round = 0; round < (context.short ? SHORT_ROUNDS : ROUNDS); round++) {
    const starts = {} as Record<Case, Start>;
    await start(options.get("none") as WorkerOptions, TYPICAL);
    for (const name of orders[round % orders.length] as (typeof orders)[number]) {
      const { worker, text } = cases[name];
      starts[name] = await start(options.get(worker) as WorkerOptions, text);
    }
    rounds.push(starts);
  }
  const medianOf = (name: Case, part: "ready" | "request") => median(rounds.map((round) => round[name][part]));
  const beyondNone = (name: Case, part: "ready" | "request") =>
    median(rounds.map((round) => round[name][part] - round.none[part]));
  // Evaluating code takes no negative time: a difference below 0 is noise of the process's start.
  const isolate = (name: Case) => Math.max(0, beyondNone(name, "ready")) + beyondNone(name, "request");
  const [ours, other] = [isolate("wasm"), isolate("ort-web")];
  const reference = await computed(subject, "fp32", "ort-node", [TYPICAL, RARE]);
  const [first] = rounds as [Record<Case, Start>];
  const found = [...first.wasm.vectors, ...first["wasm, rare word"].vectors];
  return {
    figure: other / ours,
    agreement: parity(reference, found).minCosine,
    ours: milliseconds(ours),
    other: milliseconds(other),
    details: Object.fromEntries(
      names.map((name) => [
        name,
        { ready: medianOf(name, "ready"), request: medianOf(name, "request"), isolate: isolate(name) },
      ]),
    ),
  };
}

async function start(options: WorkerOptions, text: string): Promise<Start> {
  const begin = performance.now();
  const worker = await startWorker(options);
  try {
    const started = performance.now();
    const response = await worker.ask([text]);
    const vectors = options.model === "none" ? [] : await vectorsOf(response);
    return { ready: started - begin, request: performance.now() - started, vectors };
  } finally {
    await worker.stop();
  }
}
