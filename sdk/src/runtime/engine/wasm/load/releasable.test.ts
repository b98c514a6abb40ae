import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { randomSequences, TINY_EDGE, tinyEdgeFile } from "#test/fixtures/tiny-edge-file.ts";
import { compiled } from "#test/suites/kernels/builds.ts";
import { type EngineSession, oneModel } from "../../engine.ts";
import { wasmEngine } from "../index.ts";

/** Models that may wait for the garbage collector: measured 9 at most. All of them would be 200. */
const WAITING = 40;

const child = join(import.meta.dirname, "../../../../../../test/fixtures/release-child.ts");
const sequences = randomSequences(TINY_EDGE);
let load: () => Promise<EngineSession>;
beforeAll(async () => {
  const engine = wasmEngine({ simd: await compiled("simd") });
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

  it("may be released again", async () => {
    const session = await load();
    await session.release();
    await expect(session.release()).resolves.toBeUndefined();
  });

  it("still gives what it was asked for before, and leaves others as they are", async () => {
    const [session, other] = [await load(), await load()];
    const wanted = await other.run(sequences);
    const running = session.run(sequences);
    await session.release();
    expect(await running).toEqual(wanted);
    expect(await other.run(sequences)).toEqual(wanted);
  });

  it("lets its memory go, however long it is kept itself", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [child]);
    const { before, most, released } = JSON.parse(stdout) as Record<"before" | "most" | "released", number>;
    expect(released).toBe(200);
    expect(most).toBeGreaterThan(before);
    expect(most - before).toBeLessThan(WAITING);
  });
});
