import { join } from "node:path";
import { median } from "../../run-tool.ts";
import type { Context } from "../context.ts";
import { type Measured, milliseconds } from "../measured.ts";
import { publishForm } from "./publish-form.ts";
import { startWorker, vectorsOf, type WorkerOptions } from "./running-worker.ts";
import { type WorkerName, workerModules } from "./worker-modules.ts";

const ROUNDS = 21;
const workers = ["none", "wasm", "ort-web"] as const satisfies readonly WorkerName[];

/** Milliseconds of one start, from outside: clocks of Workers stand still while they compute. */
interface Start {
  /** Of the process, until it takes requests: Workers are evaluated by then. */
  readonly ready: number;
  /** From the first request to its answer. */
  readonly request: number;
}

/**
 * The first vector of a Worker in a new process: from the process's start, less what the Worker without a model takes.
 */
export async function coldStart(context: Context): Promise<Measured> {
  const subject = await context.subject("given");
  const folder = join(context.folder, "cold");
  await publishForm({ subject, form: "wasm", name: "wasm", engine: "wasm", precision: "int8-edge" }, folder);
  await publishForm({ subject, form: "int8", name: "ort-web", engine: "ort-web", precision: "int8" }, folder);
  const options: WorkerOptions[] = [];
  for (const model of workers) options.push({ modules: await workerModules(model), model, folder });
  const rounds: Start[][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const starts: Start[] = [];
    for (const each of options) starts.push(await start(each));
    rounds.push(starts);
  }
  const medianOf = (worker: number, part: keyof Start) => median(rounds.map((round) => (round[worker] as Start)[part]));
  const total = (round: Start[], worker: number) => (round[worker] as Start).ready + (round[worker] as Start).request;
  const isolate = (worker: number) => median(rounds.map((round) => total(round, worker) - total(round, 0)));
  const [ours, other] = [isolate(1), isolate(2)];
  return {
    figure: other / ours,
    ours: milliseconds(ours),
    other: milliseconds(other),
    details: Object.fromEntries(
      workers.map((worker, i) => [worker, { ready: medianOf(i, "ready"), request: medianOf(i, "request") }]),
    ),
  };
}

async function start(options: WorkerOptions): Promise<Start> {
  const begin = performance.now();
  const worker = await startWorker(options);
  try {
    const started = performance.now();
    const response = await worker.ask(["Where is the mill?"]);
    if (options.model === "none") await response.arrayBuffer();
    else await vectorsOf(response);
    return { ready: started - begin, request: performance.now() - started };
  } finally {
    await worker.stop();
  }
}
