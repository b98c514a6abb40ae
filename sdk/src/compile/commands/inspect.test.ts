import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { preparable } from "#test/fixtures/preparable.ts";
import { preparedDefault } from "#test/fixtures/prepared.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import type { Outline } from "../graph/outline.ts";
import { readModelSource } from "../model/model-source.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import { inspect } from "./inspect.ts";

const countOf = ({ blocks }: Outline) => blocks.reduce((sum, { items, count }) => sum + items.length * count, 0);

describe("inspect", () => {
  let model: string;
  beforeAll(async () => {
    model = await preparedDefault();
  });

  it("describes a model folder and its ONNX file before and after fusion", async () => {
    const { folder } = await preparable();
    const report = await inspect({ model: folder });
    if (report.kind !== "model") expect.unreachable("it is a model");
    const { before, after, fused, reasons, excused } = report;
    expect({ reasons, excused }).toEqual({ reasons: [], excused: [] });
    expect(after.nodes).toBeLessThan(before.nodes / 4);
    expect(after.operators["com.microsoft.Attention"]).toBe(fused.Attention);
    for (const graph of [before, after]) {
      expect(countOf(graph)).toBe(graph.nodes);
      expect(Object.values(graph.operators).reduce((sum, count) => sum + count, 0)).toBe(graph.nodes);
      expect(graph.weightBytes).toBeGreaterThan(1000);
      // All layers of the model are the same.
      expect(graph.blocks.some(({ items, count }) => count === fused.Attention && items.length > 4)).toBe(true);
    }
    const onnx = join(await temporaryFolder(), "model.onnx");
    await writeOnnx(onnx, (await readModelSource(folder)).graph);
    const again = await inspect({ model: onnx });
    expect(again).toMatchObject({ kind: "model", fused, after: { operators: after.operators } });
  });

  it("describes what each target of an artifact runs", async () => {
    const { manifest, version } = await openFolder(model);
    const report = await inspect({ model });
    if (report.kind !== "artifact") expect.unreachable("it is an artifact");
    expect(report).toMatchObject({ name: manifest.name, version });
    const { edge, "regional-cpu": cpu, "regional-gpu": gpu } = report.targets;
    expect(edge?.outline.operators.linearInt8).toBeGreaterThan(0);
    expect(cpu?.outline.nodes).toBeGreaterThan(0);
    expect(gpu?.outline.blocks.flatMap(({ items }) => items).some(({ result }) => result.startsWith("float16"))).toBe(
      true,
    );
    // All weights of the program are named by its steps.
    const size = manifest.files[edge?.model ?? ""]?.size ?? Number.NaN;
    expect(edge?.outline.weightBytes).toBeLessThanOrEqual(size);
    expect(edge?.outline.weightBytes).toBeGreaterThan(size / 2);
  });

  it.each([
    ["checkpoint_missing", async (folder: string) => folder],
    ["onnx_missing", async (folder: string) => join(folder, "none.onnx")],
    [
      "onnx_invalid",
      async (folder: string) => {
        await writeFile(join(folder, "bad.onnx"), "text");
        return join(folder, "bad.onnx");
      },
    ],
    [
      "manifest_invalid",
      async (folder: string) => {
        await mkdir(join(folder, "artifact"));
        await writeFile(join(folder, "artifact/manifest.json"), "{}");
        return join(folder, "artifact");
      },
    ],
  ])("refuses with %s", async (code, pathIn) => {
    await expect(inspect({ model: await pathIn(await temporaryFolder()) })).rejects.toMatchObject({ code });
  });
});
