import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { randomSequences, TINY_EDGE, tinyEdgeFile } from "#test/fixtures/tiny-edge-file.ts";
import { compiledKernels } from "#test/suites/kernels/builds.ts";
import { type EngineSession, oneModel } from "../../engine.ts";
import { wasmEngine } from "../index.ts";

/** Turns of the event loop, each with a collection, after which memory that is still alive is a leak. */
const MAX_TURNS = 20;

const sequences = randomSequences(TINY_EDGE);
let load: () => Promise<EngineSession>;
beforeAll(async () => {
  const engine = wasmEngine({ simd: await compiledKernels("simd") });
  const file = await tinyEdgeFile("bert");
  load = () => engine.load(oneModel(file));
});

describe("a session that is released", () => {
  it("refuses to run, and has no memory", async () => {
    const session = await load();
    expect(session.memoryBytes()).toBeGreaterThan(0);
    await session.release();
    await expect(session.run(sequences)).rejects.toMatchObject({ code: "session_released", hint: expect.any(String) });
    expect(session.memoryBytes()).toBe(0);
  });

  it("can be released twice", async () => {
    const session = await load();
    await session.release();
    await expect(session.release()).resolves.toBeUndefined();
  });

  it("finishes requests that are running, and leaves other sessions unchanged", async () => {
    const [session, other] = [await load(), await load()];
    const wanted = await other.run(sequences);
    const running = session.run(sequences);
    await session.release();
    expect(await running).toEqual(wanted);
    expect(await other.run(sequences)).toEqual(wanted);
  });

  it("frees its memory even if the session object is kept", async () => {
    const memories: WeakRef<WebAssembly.Memory>[] = [];
    const { Memory } = WebAssembly;
    // This is not a Vitest spy: a spy would keep references to the memories, so they could not be freed.
    WebAssembly.Memory = class extends Memory {
      constructor(descriptor: WebAssembly.MemoryDescriptor) {
        super(descriptor);
        memories.push(new WeakRef(this));
      }
    };
    onTestFinished(() => {
      WebAssembly.Memory = Memory;
    });
    const sessions = [await load(), await load(), await load()];
    for (const session of sessions) await session.run(sequences);
    expect(memories).toHaveLength(3);
    for (const session of sessions.slice(1)) await session.release();
    const alive = () => memories.map((memory) => memory.deref() !== undefined);
    // A WeakRef keeps its target alive until the current turn of the event loop ends. Compiler threads of V8 can keep it
    // for some more turns.
    for (let turn = 0; turn < MAX_TURNS && alive().filter(Boolean).length > 1; turn++) {
      await nextTurn();
      collectGarbage();
    }
    expect(alive()).toEqual([true, false, false]);
    expect(sessions.map((session) => session.memoryBytes() !== 0)).toEqual([true, false, false]);
  });
});

/** Runs Node's garbage collector. After the flag is set, new contexts have the function `gc`. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}
