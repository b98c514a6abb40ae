import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NamedGraph } from "#test/fixtures/named-graph.ts";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";
import type { OptimizeReport } from "../compile/commands/optimize.ts";
import { encodeOnnx } from "../compile/onnx/to-onnx.ts";

describe("optimize", () => {
  it("prints its report as one JSON document on stdout, and writes the fused model", async () => {
    const folder = await temporaryFolder();
    const [checkpoint, out] = [join(folder, "checkpoint"), join(folder, "fused.onnx")];
    await writePreparableCheckpoint(checkpoint);
    const { code, stdout, stderr } = await runCommandLine(["optimize", checkpoint, out, "--json"]);
    expect({ code, stages: stderr.match(/✓/g)?.length }).toEqual({ code: 0, stages: 4 });
    expect(JSON.parse(stdout)).toEqual({
      nodes: { before: expect.any(Number), after: expect.any(Number) },
      fused: { EmbedLayerNormalization: 1, Attention: 1, SkipLayerNormalization: 2, BiasGelu: 1 },
      complete: true,
      acceptedKeys: [],
      reasons: [],
      excused: [],
      parity: { maxAbs: expect.any(Number), cosine: expect.any(Number), cases: 5 },
      warnings: [],
      seconds: expect.any(Number),
      peakRssMB: expect.any(Number),
      stages: expect.any(Array),
    } satisfies Omit<OptimizeReport, "source">);
    expect((await stat(out)).size).toBeGreaterThan(1000);
  });

  it("exits with 1 and the reasons when not everything is fused, unless that is allowed", async () => {
    const folder = await temporaryFolder();
    const g = new NamedGraph("plain", [{ name: "x", dtype: "float32", shape: ["batch", 4] }]);
    g.op("y", "Tanh", ["x"]);
    const [source, out] = [join(folder, "plain.onnx"), join(folder, "partial.onnx")];
    await writeFile(source, encodeOnnx(g.outputs("y")));
    const refused = await runCommandLine(["optimize", source, out, "--json"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("not fused: Attention: the graph has no attention that a fusion recognizes");
    expect(JSON.parse(refused.stdout)).toMatchObject({ complete: false, reasons: [{ pattern: "Attention" }] });
    expect(await readdir(folder)).not.toContain("partial.onnx");
    const allowed = await runCommandLine(["optimize", source, out, "--allow-partial", "--no-parity"]);
    expect(allowed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^1 → 1 nodes: nothing fused\nnot compared\n/),
    });
    expect(await readdir(folder)).toContain("partial.onnx");
  });
});
