import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { preparedTiny } from "#test/fixtures/prepared-tiny.ts";
import type { Artifact } from "../../artifact/artifact.ts";
import type { ManifestFile, Target } from "../../artifact/manifest.ts";
import { MEASUREMENTS_FILE } from "../../artifact/measurements.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { together } from "../../runtime/engine/batching.ts";
import type { EngineSession } from "../../runtime/engine/engine.ts";
import { ortMemory } from "../../runtime/engine/ort-web/compiled-module.ts";
import { idsOf } from "../../runtime/engine/token-sequence.ts";
import { modelFilesOf } from "../../runtime/model-files.ts";
import { MANIFEST_FILE, openFolder } from "../../storage/folder-artifact.ts";
import { bench } from "../commands/bench.ts";
import { timeSideBySide, timeTargets } from "./time-targets.ts";

const MEBIBYTE = 2 ** 20;
const WASM_PAGE = 65_536;

/** An artifact whose model accepts 64 tokens. The region's CPU runs the file in half precision, as int8 is not the point. */
let artifact: Artifact;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bert-edge-latency-"));
  await cp(await preparedTiny(["edge", "regional-gpu"]), folder, { recursive: true });
  const { manifest, measurements } = await openFolder(folder);
  const { edge, "regional-gpu": half } = manifest.targets;
  const latency = { base: 1, perToken: 0.1, perSquare: 0 };
  const changed = {
    [MANIFEST_FILE]: { ...manifest, targets: { edge, "regional-cpu": half } },
    [MEASUREMENTS_FILE]: { ...measurements, "regional-cpu": { latency } },
  };
  for (const [file, content] of Object.entries(changed)) await writeFile(join(folder, file), JSON.stringify(content));
  artifact = await openFolder(folder);
  return () => rm(folder, { recursive: true });
});

describe("measureTargets", () => {
  it("times both CPU targets at the same lengths, at most the model's maximum", async () => {
    const { points } = await timeTargets(artifact, { tokens: [8, 32, 64, 128, 512], rounds: 1 });
    expect(Object.keys(points).sort()).toEqual(["edge", "regional-cpu"]);
    for (const times of Object.values(points)) {
      expect(times.map(({ tokens }) => tokens)).toEqual([8, 32, 64]);
      for (const { ms } of times) expect(ms).toBeGreaterThan(0);
    }
  });

  it("replaces the measurements of the targets it times, and no others", async () => {
    const before = structuredClone(artifact.measurements);
    const rounds: number[] = [];
    const { measurements } = await timeTargets(artifact, {
      targets: ["regional-cpu"],
      tokens: [8, 16],
      rounds: 1,
      onRound: (round) => rounds.push(round),
    });
    expect(rounds).toEqual([0, 1]);
    expect(artifact.measurements).toEqual(before);
    expect(measurements).toEqual({ ...before, "regional-cpu": { latency: expect.any(Object) } });
    expect(measurements["regional-cpu"]).not.toEqual(before["regional-cpu"]);
  });

  it("stops between two runs when the signal aborts", async () => {
    const abort = new AbortController();
    const work = timeTargets(artifact, { rounds: 100, onRound: () => abort.abort(), signal: abort.signal });
    await expect(work).rejects.toMatchObject({ code: "aborted" });
  });

  /** Returns the artifact with a different edge target: the regional model, run by onnxruntime-web. */
  function onOrtWeb(size?: number): Artifact {
    const { manifest } = artifact;
    const edge = { ...manifest.targets["regional-cpu"], engine: "ort-web" } as Target;
    const file = manifest.files[edge.model] as ManifestFile;
    const files = { ...manifest.files, [edge.model]: { ...file, size: size ?? file.size } };
    return { ...artifact, manifest: { ...manifest, files, targets: { edge } } };
  }

  it("measures the memory of the edge's engine, which holds the model", async () => {
    const { measurements } = await timeTargets(artifact, { targets: ["edge"], tokens: [8], rounds: 1 });
    const { peak = 0, limit, fits } = measurements.edge?.memory ?? {};
    expect({ limit, fits }).toEqual({ limit: 128 * MEBIBYTE, fits: true });
    expect(peak).toBeGreaterThan(
      artifact.manifest.files[artifact.manifest.targets.edge?.model ?? ""]?.size ?? Infinity,
    );
    expect(peak % WASM_PAGE).toBe(0);
  });

  it("measures memory with the longest text, even if only shorter ones are timed", async () => {
    const long = { ...artifact, manifest: { ...artifact.manifest, maxTokens: 64 } };
    const { measurements } = await timeTargets(long, { targets: ["edge"], tokens: [3], rounds: 1 });
    const session = await (await engineOnThisMachine("wasm")).load(modelFilesOf(artifact, "wasm"));
    await session.run([new Int32Array(64).fill(2000)]);
    expect(measurements.edge?.memory?.peak).toBe(session.memoryBytes());
    await session.release();
  });

  it("counts the model twice for onnxruntime-web, because it copies the bytes", async () => {
    const { measurements } = await timeTargets(onOrtWeb(), { tokens: [8], rounds: 1 });
    const model = artifact.manifest.files[artifact.manifest.targets["regional-cpu"]?.model ?? ""]?.size ?? Number.NaN;
    const memory = ortMemory()?.buffer.byteLength ?? Number.NaN;
    expect(measurements.edge?.memory).toEqual({ peak: memory + model, limit: 128 * MEBIBYTE, fits: true });
  });

  it("reports a model that is too large for an isolate", async () => {
    const { measurements } = await timeTargets(onOrtWeb(128 * MEBIBYTE), { tokens: [8], rounds: 1 });
    expect(measurements.edge?.memory?.fits).toBe(false);
  });

  it("leaves out targets that the artifact does not have", async () => {
    const { "regional-cpu": region } = artifact.manifest.targets;
    const targets = region ? { "regional-cpu": region } : {};
    const without = { ...artifact, measurements: {}, manifest: { ...artifact.manifest, targets } };
    const { points, measurements } = await timeTargets(without, { tokens: [8], rounds: 1 });
    expect(Object.keys(points)).toEqual(["regional-cpu"]);
    expect(Object.keys(measurements)).toEqual(["regional-cpu"]);
  });
});

describe("bench", () => {
  it("stores measurements next to the manifest, so that the version does not change", async () => {
    const before = await openFolder(folder);
    const report = await bench({ artifact: folder, tokens: [8, 16, 64], rounds: 1 });
    expect(report).toMatchObject({ stored: true, rounds: 1 });
    const after = await openFolder(folder);
    expect(after.version).toBe(before.version);
    expect(after.manifestBytes).toEqual(before.manifestBytes);
    expect(after.measurements).toEqual(report.measurements);
    expect(after.measurements).not.toEqual(before.measurements);
  });

  it("stores nothing for too few lengths or an open artifact", async () => {
    const { measurements } = await openFolder(folder);
    for (const tokens of [
      [8, 16, 20],
      [40, 50, 64],
      [8, 64],
    ]) {
      expect(await bench({ artifact: folder, tokens, rounds: 1, engines: ["wasm"] })).toMatchObject({ stored: false });
    }
    expect(await bench({ artifact, tokens: [8, 16, 64], rounds: 1 })).toMatchObject({ stored: false });
    expect((await openFolder(folder)).measurements).toEqual(measurements);
  });

  it("refuses an engine without a CPU target, and lists the artifact's engines", async () => {
    await expect(bench({ artifact, engines: ["ort-web"] })).rejects.toMatchObject({
      code: "engine_mismatch",
      hint: "Choose from the artifact's engines: wasm, ort-node.",
    });
  });
});

/** Returns a session that records its calls in `calls`. Call number n takes `ms(tokens, n)` on a simulated clock. */
function session(name: string, calls: string[], ms: (tokens: number, call: number) => number): EngineSession {
  let call = 0;
  return {
    provider: "cpu",
    target: "edge",
    batches: together,
    run: async ([sequence]) => {
      const tokens = sequence ? idsOf(sequence).length : 0;
      calls.push(`${name} ${tokens}`);
      vi.advanceTimersByTime(ms(tokens, call++));
      return [];
    },
    memoryBytes: () => undefined,
    release: async () => {},
  };
}

describe("timeSideBySide", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("times every engine at every length in every round, one after the other", async () => {
    const calls: string[] = [];
    const sessions = new Map([
      ["a", session("a", calls, () => 1)],
      ["b", session("b", calls, () => 1)],
    ]);
    const rounds: number[] = [];
    await timeSideBySide(sessions, {
      tokens: [8, 16],
      rounds: 2,
      vocabulary: 50,
      onRound: (round) => rounds.push(round),
    });
    const round = ["a 8", "b 8", "a 16", "b 16"];
    expect(calls).toEqual([...round, ...round, ...round]);
    expect(rounds).toEqual([0, 1, 2]);
  });

  it("returns one time per engine and length", async () => {
    const sessions = new Map([
      ["quick", session("quick", [], (tokens) => tokens / 8)],
      ["slow", session("slow", [], (tokens) => tokens * 2)],
    ]);
    const measured = await timeSideBySide(sessions, { tokens: [8, 16], rounds: 3, vocabulary: 50 });
    expect(Object.fromEntries(measured)).toEqual({
      quick: [
        { tokens: 8, ms: 1 },
        { tokens: 16, ms: 2 },
      ],
      slow: [
        { tokens: 8, ms: 16 },
        { tokens: 16, ms: 32 },
      ],
    });
  });

  it.each([
    ["an odd number of rounds: the middle one", [1000, 5, 900, 3], 5],
    ["an even number of rounds: the mean of the middle two", [1000, 5, 900, 3, 9], 7],
  ])("ignores the first round and returns, for %s", async (_, times, median) => {
    const sessions = new Map([["a", session("a", [], (_, call) => times[call] as number)]]);
    const points = await timeSideBySide(sessions, { tokens: [8], rounds: times.length - 1, vocabulary: 50 });
    expect(points.get("a")).toEqual([{ tokens: 8, ms: median }]);
  });

  it("uses only token ids of the vocabulary", async () => {
    const ids: number[] = [];
    const run: EngineSession["run"] = async ([sequence]) => {
      ids.push(...(sequence ? idsOf(sequence) : []));
      return [];
    };
    const sessions = new Map([["a", { ...session("a", [], () => 1), run }]]);
    await timeSideBySide(sessions, { tokens: [64], rounds: 1, vocabulary: 30 });
    expect(Math.min(...ids)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...ids)).toBeLessThan(30);
    expect(new Set(ids).size).toBeGreaterThan(20);
  });
});
