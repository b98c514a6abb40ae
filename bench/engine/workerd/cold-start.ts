import { join } from "node:path";
import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import { totalLength } from "#sdk/artifact/total-length.ts";
import { parity } from "#sdk/compile/accuracy/parity.ts";
import { median } from "../../run-tool.ts";
import type { Context } from "../context.ts";
import { type Measured, milliseconds } from "../measured.ts";
import type { Form } from "../subject.ts";
import { bucketIn } from "./bucket.ts";
import type { ModelStore } from "./model-store.ts";
import { BYTES_PER_MS, startPacedStore } from "./paced-store.ts";
import { computed, publishForm } from "./publish-form.ts";
import { startWorker, vectorsOf, type WorkerOptions } from "./running-worker.ts";
import { type Objects, type Upload, uploadOf } from "./uploads.ts";
import { workerModules } from "./worker-modules.ts";

/** Number of rounds. It is a multiple of the number of orders, so that each order runs equally often. */
const ROUNDS = 24;
const SHORT_ROUNDS = 1;

const texts = {
  /**
   * Typical words: half of the sentences in STS-B contain a rarer word. Our engine answers as soon as the token embeddings of the text
   * have arrived.
   */
  typical: "Is the shepherd in the driveway?",
  /** A word whose embedding is in one of the last rows of the token embedding table, so that it takes longer. */
  rare: "Necessitated",
};

/** Starts a store in the benchmark's temporary folder. */
const stores = {
  R2: async (folder: string) => bucketIn(folder),
  "a distant store": startPacedStore,
} as const satisfies Record<string, (folder: string) => Promise<ModelStore>>;

const precisions = { wasm: "int8-edge", "ort-web": "int8" } as const;

/** A form of the model, and the engine of the Worker that serves it. */
interface Served {
  readonly form: Form;
  readonly engine: keyof typeof precisions;
  /** What is in the Worker's upload. Default: nothing. */
  readonly upload?: Upload;
}

export interface ColdStart {
  readonly text: keyof typeof texts;
  readonly store: keyof typeof stores;
  readonly ours: Served;
  readonly rival: Served;
  /** The Worker whose time is the numerator of the ratio. */
  readonly over: "ours" | "rival";
}

/** `none` is a Worker without a model. */
type Case = "none" | "ours" | "rival";

/**
 * All orders of the cases in a round: each case comes first equally often, and follows every other case equally often. The order
 * matters because the process of the previous case may still be shutting down.
 */
const orders = [
  ["none", "ours", "rival"],
  ["ours", "rival", "none"],
  ["rival", "none", "ours"],
  ["none", "rival", "ours"],
  ["rival", "ours", "none"],
  ["ours", "none", "rival"],
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
  /** Requests to the store until this answer. */
  readonly fetched: number;
  /** Vector of the text; none without a model. */
  readonly vectors: readonly Float32Array[];
}

/**
 * Measures the time from the start of a Worker's process to its first vector. The time of a Worker without a model is
 * subtracted.
 */
export const coldStart =
  (comparison: ColdStart) =>
  async (context: Context): Promise<Measured> => {
    const store = await stores[comparison.store](join(context.folder, "cold"));
    try {
      return await measure(comparison, store, context);
    } finally {
      await store.stop();
    }
  };

async function measure(
  { text: length, ours, rival, over }: ColdStart,
  store: ModelStore,
  context: Context,
): Promise<Measured> {
  const [subject, text] = [await context.subject("given"), texts[length]];
  const { source } = store;
  const workers = { none: { modules: await workerModules("none"), model: "none", source } } as Record<
    Case,
    WorkerOptions
  >;
  const uploadMs = { ours: 0, rival: 0 };
  for (const [name, { form, engine, upload }] of Object.entries({ ours, rival })) {
    let objects: Objects = new Map();
    const publish = async (artifact: PublishableArtifact) => {
      await store.publish(artifact);
      if (upload) objects = await uploadOf(artifact, upload);
    };
    await publishForm({ subject, form, name, engine, precision: precisions[engine] }, { publish });
    const modules = await (upload ? workerModules("uploaded", objects) : workerModules(engine));
    uploadMs[name as "ours" | "rival"] = totalLength([...objects.values()]) / BYTES_PER_MS;
    workers[name as Case] = { modules, model: name, source };
  }
  const rounds: Record<Case, Start>[] = [];
  for (let round = 0; round < (context.short ? SHORT_ROUNDS : ROUNDS); round++) {
    const starts = {} as Record<Case, Start>;
    await start(workers.none, text, store);
    for (const name of orders[round % orders.length] as (typeof orders)[number]) {
      starts[name] = await start(workers[name], text, store);
    }
    rounds.push(starts);
  }
  const medianOf = (name: Case, part: "ready" | "request" | "fetched") =>
    median(rounds.map((round) => round[name][part]));
  const beyondNone = (name: Case, part: "ready" | "request") =>
    median(rounds.map((round) => round[name][part] - round.none[part]));
  const times = (name: Case) => ({ ready: medianOf(name, "ready"), request: medianOf(name, "request") });
  const figuresOf = (name: "ours" | "rival") => ({
    ...times(name),
    upload: uploadMs[name],
    // Evaluating code takes no negative time: a difference below 0 is noise of the process's start.
    isolate: Math.max(0, beyondNone(name, "ready")) + beyondNone(name, "request") + uploadMs[name],
    ...(store.requests && { requests: medianOf(name, "fetched") }),
  });
  const found = { ours: figuresOf("ours"), rival: figuresOf("rival") };
  const reference = await computed(subject, "fp32", "ort-node", [text]);
  return {
    figure: over === "ours" ? found.ours.isolate / found.rival.isolate : found.rival.isolate / found.ours.isolate,
    agreement: parity(reference, rounds[0]?.ours.vectors ?? []).minCosine,
    ours: described(found.ours),
    other: described(found.rival),
    details: {
      text,
      none: times("none"),
      ours: { form: ours.form, ...found.ours, file: (await subject.file(ours.form)).length },
      rival: { form: rival.form, ...found.rival, file: (await subject.file(rival.form)).length },
    },
  };
}

const described = ({ isolate, requests }: { readonly isolate: number; readonly requests?: number }): string =>
  milliseconds(isolate) + (requests === undefined ? "" : `, ${requests} requests`);

async function start(options: WorkerOptions, text: string, { requests = () => 0 }: ModelStore): Promise<Start> {
  const [begin, before] = [performance.now(), requests()];
  const worker = await startWorker(options);
  try {
    const started = performance.now();
    const response = await worker.ask([text]);
    const vectors = options.model === "none" ? [] : await vectorsOf(response);
    return { ready: started - begin, request: performance.now() - started, fetched: requests() - before, vectors };
  } finally {
    await worker.stop();
  }
}
