import fc from "fast-check";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { CRASH } from "#test/fixtures/crashing-worker.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { TINY_EDGE, tinyEdgeFile } from "#test/fixtures/tiny-edge-file.ts";
import { compiledKernels } from "#test/suites/kernels/builds.ts";
import { type EngineSession, oneModel, type TokenIds, type VectorHead } from "../../engine.ts";
import { nodeThread } from "../../threads/node-thread.ts";
import { idsOf } from "../../token-sequence.ts";
import { type KernelModules, wasmEngine } from "../../wasm/index.ts";
import { poolEngine } from "../pool-engine.ts";
import type { SpawnSession, ThreadTask } from "../thread-task.ts";
import { wasmPoolEngine } from "./index.ts";

let kernels: KernelModules;
let file: Uint8Array<ArrayBuffer>;
let alone: EngineSession;
beforeAll(async () => {
  kernels = { simd: await compiledKernels("simd") };
  file = await tinyEdgeFile("bert", true);
  alone = await wasmEngine(kernels).load(oneModel(file));
});

const opened: EngineSession[] = [];
afterEach(async () => {
  for (const session of opened.splice(0)) await session.release();
});

const workers: SpawnSession = nodeThread(new URL("./worker.ts", import.meta.url));

/**
 * Opens a pool. `tasks` has one list per thread, with the token count of each task. `alive` holds the threads that have
 * not ended. The threads are numbered from 1, in the order in which they started.
 */
async function openPool(threads: number, thread = workers) {
  const tasks: number[][] = [];
  const alive = new Set<number>();
  const spawn: SpawnSession = (listener) => {
    const noted: number[] = [];
    const number = tasks.push(noted);
    alive.add(number);
    const ended = (cause: unknown) => {
      alive.delete(number);
      listener.ended(cause);
    };
    const { post, end } = thread({ ...listener, ended });
    const tokens = (task: ThreadTask) =>
      "sequences" in task ? task.sequences.reduce((sum, sequence) => sum + idsOf(sequence).length, 0) : 0;
    return {
      post(task) {
        noted.push(tokens(task));
        post(task);
      },
      end,
    };
  };
  const session = await poolEngine({ ...kernels, threads }, spawn).load(oneModel(file));
  opened.push(session);
  return { session, tasks, alive };
}
const crashing: SpawnSession = nodeThread(
  new URL("../../../../../../test/fixtures/crashing-worker.ts", import.meta.url),
);

const sequence = fc
  .array(fc.nat(CRASH.exits - 1), { minLength: 1, maxLength: TINY_EDGE.maxTokens })
  .map((ids): TokenIds => Int32Array.from(ids));
/** A text, or a pair of texts with any number of tokens in each. */
const textOrPair = sequence.chain((ids) =>
  fc.oneof(
    fc.constant(ids),
    fc.nat(ids.length).map((secondFrom) => ({ ids, secondFrom })),
  ),
);
const head = fc.option(fc.record({ pooling: fc.constantFrom("mean", "cls", "max", "last"), normalize: fc.boolean() }), {
  nil: undefined,
});
const ids = (length: number, first = 1): TokenIds => new Int32Array(length).fill(7).fill(first, 0, 1);
const requestOf = (first: number) => [ids(3, first)];

describe.each([1, 2, 3])("a pool of %d threads", (threads) => {
  it("returns the results of a single session, in order, for many requests at once", async () => {
    const { session, tasks } = await openPool(threads);
    const requests = fc.array(fc.record({ sequences: fc.array(textOrPair, { maxLength: 30 }), head }), {
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(requests, async (all) => {
        const run = ({ run }: EngineSession) =>
          Promise.all(all.map(({ sequences, head }) => run(sequences, head as VectorHead | undefined)));
        expect(await run(session)).toEqual(await run(alone));
      }),
      seeded(60),
    );
    expect(tasks.length).toBe(threads);
    for (const noted of tasks) expect(noted.length).toBeGreaterThan(10);
  });
});

describe("a pool", () => {
  it.each([undefined, {}, { simd: "simd.wasm" }, { simd: Promise.resolve() }])("refuses the options %j", (options) => {
    expect(() => wasmPoolEngine(options as never)).toThrow(expect.objectContaining({ code: "setting_invalid" }));
  });

  it.each([0, -1, 1.5, "2", Number.NaN, 1e9])("refuses to have %j threads", (threads) => {
    const options = { ...kernels, threads: threads as number };
    expect(() => wasmPoolEngine(options)).toThrow(expect.objectContaining({ code: "setting_invalid" }));
  });

  it("spreads a request's tokens evenly, unless there are too few", async () => {
    const { session, tasks } = await openPool(2);
    await session.run(Array.from({ length: 20 }, () => ids(10)));
    expect(tasks).toEqual([
      [0, 100],
      [0, 100],
    ]);
    await session.run([ids(10), ids(10)]);
    expect(tasks.flatMap((noted) => noted.slice(2))).toEqual([20]);
  });

  it("uses one memory per thread, and copies a view without its whole buffer", async () => {
    const { session } = await openPool(3);
    const { memoryBytes } = await wasmEngine(kernels).load(oneModel(file));
    expect(session.memoryBytes()).toBe(3 * (memoryBytes() ?? 0));
    const buffer = Int32Array.from({ length: 100 }, (_, i) => i % 40);
    const view = buffer.subarray(3, 9);
    expect(await session.run([view])).toEqual(await alone.run([view]));
    expect(buffer).toHaveLength(100);
  });

  it("refuses an invalid sequence like a single session, with the same sequence number", async () => {
    const { session } = await openPool(2);
    const request = [ids(8), ids(8), ids(8), ids(8), ids(TINY_EDGE.maxTokens + 1)];
    const refused = { code: "input_invalid", message: expect.stringContaining("Sequence 4 has 17 tokens") };
    await expect(alone.run(request)).rejects.toMatchObject(refused);
    await expect(session.run(request)).rejects.toMatchObject(refused);
  });

  it.each([
    ["exits", "exit code 3"],
    ["throws", "A crash on purpose."],
  ] as const)("replaces a thread that %s, and fails only that thread's request", async (crash, why) => {
    const { session, tasks, alive } = await openPool(2, crashing);
    const others = Array.from({ length: 10 }, (_, i) => [ids(9), ids(1 + i)]);
    const outcomes = await Promise.allSettled([
      ...others.map((request) => session.run(request)),
      session.run(requestOf(CRASH[crash])),
      ...others.map((request) => session.run(request)),
    ]);
    const failed = outcomes.splice(others.length, 1);
    const message = expect.stringContaining(why);
    expect(failed).toMatchObject([{ reason: { code: "worker_failed", message, hint: expect.any(String) } }]);
    const wanted = await Promise.all([...others, ...others].map((request) => alone.run(request)));
    expect(outcomes.map((outcome) => outcome.status === "fulfilled" && outcome.value)).toEqual(wanted);
    await Promise.all(others.slice(0, 2).map((request) => session.run(request)));
    expect({ started: tasks.length, alive: alive.size }).toEqual({ started: 3, alive: 2 });
  });

  it("replaces a thread that ends while it is idle, without failing a request", async () => {
    const { session, alive } = await openPool(1, crashing);
    expect(await session.run(requestOf(CRASH.exitsAfterwards))).toEqual(
      await alone.run(requestOf(CRASH.exitsAfterwards)),
    );
    await expect.poll(() => alive.size).toBe(0);
    expect(await session.run(requestOf(1))).toEqual(await alone.run(requestOf(1)));
    expect(alive.size).toBe(1);
  });

  it("drops the remaining batches of a request that has failed", async () => {
    const { session, tasks } = await openPool(1, crashing);
    const long = Array.from({ length: 500 }, () => ids(16));
    await expect(session.run([ids(16, CRASH.exits), ...long])).rejects.toMatchObject({ code: "worker_failed" });
    await session.run(requestOf(1));
    expect(tasks.flat().filter((tokens) => tokens > 0)).toEqual([256, 3]);
  });

  it("refuses an invalid model like a single session, and leaves no thread running", async () => {
    const alive = new Set<object>();
    const spawn: SpawnSession = (listener) => {
      const key = {};
      alive.add(key);
      return workers({
        ...listener,
        ended(cause) {
          alive.delete(key);
          listener.ended(cause);
        },
      });
    };
    const load = (bytes: Uint8Array<ArrayBuffer>) =>
      poolEngine({ ...kernels, threads: 2 }, spawn).load(oneModel(bytes));
    await expect(load(file.slice(0, 100))).rejects.toMatchObject({ code: "model_invalid" });
    expect(alive.size).toBe(0);
    // The header is valid, so only the threads find the fault in the program.
    const text = Buffer.from(file);
    text.write("96", text.indexOf('\\"width\\":64') + 10);
    await expect(load(new Uint8Array(text))).rejects.toMatchObject({
      code: "model_invalid",
      message: expect.stringContaining("cannot run the model's program"),
    });
    await expect.poll(() => alive.size).toBe(0);
  });

  it("ends its threads when it is released, and rejects running and new requests", async () => {
    const { session, alive } = await openPool(2);
    const running = Promise.allSettled(
      Array.from({ length: 8 }, () => session.run(Array.from({ length: 64 }, () => ids(16)))),
    );
    await session.release();
    for (const outcome of await running) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "session_released" } });
    }
    await expect(session.run(requestOf(1))).rejects.toMatchObject({ code: "session_released" });
    expect({ alive: alive.size, bytes: session.memoryBytes() }).toEqual({ alive: 0, bytes: 0 });
  });
});

it("starts one thread per core by default", async () => {
  const session = await wasmPoolEngine(kernels).load(oneModel(file));
  opened.push(session);
  const { memoryBytes } = await wasmEngine(kernels).load(oneModel(file));
  expect(session.memoryBytes()).toBe(navigator.hardwareConcurrency * (memoryBytes() ?? 0));
});
