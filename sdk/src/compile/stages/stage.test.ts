import { readdir } from "node:fs/promises";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { preparable } from "#test/fixtures/preparable.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { describeModel } from "../model/describe-model.ts";
import { readTextModel } from "../model/text-model.ts";
import { fuse } from "./fuse.ts";
import { graphRunner } from "./graph-runner.ts";
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

it("graphRunner keeps the file of the last graph only", async () => {
  const { folder } = await preparable();
  const model = await readTextModel(await describeModel(folder));
  const place = await temporaryFolder();
  const { file, extension, mixesPrecisions } = graphRunner(
    model,
    "ort-node",
    { folder: place },
    { frequent: () => new Int32Array() },
  );
  expect({ extension, mixesPrecisions }).toEqual({ extension: "onnx", mixesPrecisions: true });
  const first = await file(model.graph);
  expect(await file(model.graph)).toBe(first);
  const { graph } = await fuse.run({ graph: model.graph }, { folder, progress: () => {} });
  const second = await file(graph);
  expect(second).not.toBe(first);
  expect(await readdir(place)).toEqual([basename(second.path)]);
});
