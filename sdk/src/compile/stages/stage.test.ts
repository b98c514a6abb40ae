import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { preparable, set } from "#test/fixtures/preparable.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import type { TaskData } from "../accuracy/task-data.ts";
import { tokenBatches } from "../evaluate/token-batches.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import { checkFusion } from "./check.ts";
import { fuse } from "./fuse.ts";
import { graphRunner } from "./graph-runner.ts";
import { observe } from "./observe.ts";
import { quantizeForEngine } from "./quantize.ts";
import { readFolder, readSource } from "./read.ts";
import { type Progress, type Stage, startRun } from "./stage.ts";

/** Doubles a number in two steps. */
const double: Stage<number, number> = {
  name: "check",
  describe: (input) => `double ${input}`,
  async run(input, { progress }) {
    progress(`double ${input}`, 0.5);
    if (input < 0) throw new BertEdgeError("data_invalid", "Negative.");
    return 2 * input;
  },
  report: (output) => ({ output }),
};

describe("startRun", () => {
  it("runs stages one after the other, shows their progress and collects their reports", async () => {
    const seen: Progress[] = [];
    const { run, reports } = startRun({ onProgress: (progress) => seen.push(progress) }, "/nowhere");
    expect(await run(double, await run(double, 3))).toBe(12);
    expect(reports.map(({ stage, message, found }) => ({ stage, message, found }))).toEqual([
      { stage: "check", message: "double 3", found: { output: 6 } },
      { stage: "check", message: "double 6", found: { output: 12 } },
    ]);
    expect(seen.slice(0, 2)).toEqual([
      { stage: "check", message: "double 3", fraction: undefined },
      { stage: "check", message: "double 3", fraction: 0.5 },
    ]);
  });

  it("passes on a stage's error, and reports no stage that failed", async () => {
    const { run, reports } = startRun({}, "/nowhere");
    await expect(run(double, -1)).rejects.toMatchObject({ code: "data_invalid" });
    expect(reports).toEqual([]);
  });

  it("starts no stage after the signal aborts, and discards the result of the running one", async () => {
    const abort = new AbortController();
    const { run } = startRun({ onProgress: () => abort.abort(), signal: abort.signal }, "/nowhere");
    await expect(run(double, 1)).rejects.toMatchObject({ code: "aborted" });
    await expect(run(double, 1)).rejects.toMatchObject({ code: "aborted" });
  });
});

describe("a stage's key", () => {
  const texts = ["a few words", "and some more"];

  /** Returns the keys of all stages up to quantization, for a checkpoint. */
  async function keysOf(path: string, calibration: readonly string[], tableBits: 4 | 8 = 8) {
    const context = { folder: await temporaryFolder(), progress: () => {} };
    const model = await readFolder.run({ path }, context);
    const fuseInput = { graph: model.graph, complete: true };
    const { graph } = await fuse.run(fuseInput, context);
    const observeInput = {
      graph,
      batches: tokenBatches(graph, model.encode(calibration)),
      kinds: ["statistics"] as const,
    };
    const observed = { key: () => observe.key(observeInput) };
    const quantizeInput = { graph, observed, tableBits, precisions: ["int8"] as const, mixesPrecisions: true };
    return {
      read: await readFolder.key({ path }),
      fuse: await fuse.key(fuseInput),
      check: await checkFusion.key({ model, graph, data: undefined }),
      observe: await observe.key(observeInput),
      quantize: await quantizeForEngine.key({ ...quantizeInput, quantizers: new Map(), label: "edge" }),
    };
  }

  it("depends on exactly the content that determines the result", async () => {
    const [one, same] = [await preparable(), await preparable()];
    const other = await preparable({ edit: set("encoder.layer.0.output.dense.weight", 0.5) });
    const keys = await keysOf(one.folder, texts);
    expect(new Set(Object.values(keys)).size).toBe(5);
    expect(await keysOf(same.folder, texts)).toEqual(keys);

    const otherTexts = await keysOf(one.folder, ["entirely different words"]);
    expect(otherTexts).toEqual({ ...keys, observe: expect.any(String), quantize: expect.any(String) });
    expect(otherTexts.observe).not.toBe(keys.observe);
    expect(otherTexts.quantize).not.toBe(keys.quantize);

    const fewerBits = await keysOf(one.folder, texts, 4);
    expect(fewerBits).toEqual({ ...keys, quantize: expect.any(String) });
    expect(fewerBits.quantize).not.toBe(keys.quantize);

    const otherWeights = await keysOf(other.folder, texts);
    for (const stage of ["read", "fuse", "check", "observe", "quantize"] as const) {
      expect(otherWeights[stage], stage).not.toBe(keys[stage]);
    }
  });

  it("depends on the data that a model is scored on", async () => {
    const { folder } = await preparable();
    const model = await readFolder.run({ path: folder }, { folder, progress: () => {} });
    const data = (score: number): TaskData => ({
      metric: "sts",
      content: [{ first: "x", second: "y", score }],
      score: async () => 1,
    });
    const key = (given?: TaskData) => checkFusion.key({ model, graph: model.graph, data: given });
    expect(new Set([await key(), await key(data(1)), await key(data(2))]).size).toBe(3);
    expect(await key(data(1))).toBe(await key(data(1)));
  });

  it("does not depend on which file contains the weights of an ONNX model", async () => {
    const { folder } = await preparable();
    const { graph } = await readSource.run({ path: folder }, { folder, progress: () => {} });
    const place = await temporaryFolder();
    const [inline, external] = [join(place, "inline.onnx"), join(place, "external.onnx")];
    await writeOnnx(inline, graph);
    await writeOnnx(external, graph, {}, { maxInlineBytes: 0 });
    expect(await readSource.key({ path: external })).toBe(await readSource.key({ path: inline }));
  });
});

it("graphRunner keeps the file of the last graph only", async () => {
  const { folder } = await preparable();
  const model = await readFolder.run({ path: folder }, { folder, progress: () => {} });
  const place = await temporaryFolder();
  const { file, extension, mixesPrecisions } = graphRunner(model, "ort-node", { folder: place });
  expect({ extension, mixesPrecisions }).toEqual({ extension: "onnx", mixesPrecisions: true });
  const first = await file(model.graph);
  expect(await file(model.graph)).toBe(first);
  const { graph } = await fuse.run({ graph: model.graph }, { folder, progress: () => {} });
  const second = await file(graph);
  expect(second).not.toBe(first);
  expect(await readdir(place)).toEqual([basename(second)]);
});
