import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";
import type { Artifact } from "../../artifact/artifact.ts";
import type { ManifestFile, Target } from "../../artifact/manifest.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { ortMemory } from "../../runtime/engine/ort-web/compiled-module.ts";
import { sourceOf } from "../../runtime/model.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import { prepare } from "../commands/prepare.ts";
import { calibrate } from "./time-targets.ts";

const MEBIBYTE = 2 ** 20;
const WASM_PAGE = 65_536;

/** An artifact that takes 64 tokens. */
let artifact: Artifact;
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "bert-edge-calibrate-"));
  await writePreparableCheckpoint(folder);
  await prepare({ folder, out: join(folder, "artifact"), name: "tiny" });
  artifact = await openFolder(join(folder, "artifact"));
  return () => rm(folder, { recursive: true, force: true });
});

describe("calibrate", () => {
  it("times both CPU targets at the same lengths, the longest being the model's", async () => {
    const { calibration } = await calibrate(artifact, { tokens: [8, 32, 64, 128, 512], rounds: 1 });
    expect(Object.keys(calibration).sort()).toEqual(["edge", "regional-cpu"]);
    for (const { points } of Object.values(calibration)) {
      expect(points.map(({ tokens }) => tokens)).toEqual([8, 32, 64]);
      for (const { ms } of points) expect(ms).toBeGreaterThan(0);
    }
  });

  it("stores what it found in a manifest of its own, and changes nothing else", async () => {
    const before = structuredClone(artifact.manifest);
    const rounds: number[] = [];
    const { calibration, manifest } = await calibrate(artifact, {
      targets: ["regional-cpu"],
      tokens: [8, 16],
      rounds: 1,
      onRound: (round) => rounds.push(round),
    });
    expect(rounds).toEqual([0, 1]);
    expect(artifact.manifest).toEqual(before);
    const cost = calibration["regional-cpu"]?.cost;
    const target = { ...before.targets["regional-cpu"], cost };
    expect(manifest).toEqual({ ...before, targets: { ...before.targets, "regional-cpu": target } });
  });

  /** The artifact with what the region runs at its edge too, by onnxruntime-web. */
  function onOrtWeb(size?: number): Artifact {
    const { manifest } = artifact;
    const edge = { ...manifest.targets["regional-cpu"], engine: "ort-web" } as Target;
    const file = manifest.files[edge.model] as ManifestFile;
    const files = { ...manifest.files, [edge.model]: { ...file, size: size ?? file.size } };
    return { ...artifact, manifest: { ...manifest, files, targets: { edge } } };
  }

  it("says what the edge needs at most: the memory of its engine, which the model is in", async () => {
    const { manifest } = await calibrate(artifact, { targets: ["edge"], tokens: [8], rounds: 1 });
    const { peak, limit, fits } = manifest.targets.edge?.memory ?? {};
    expect({ limit, fits }).toEqual({ limit: 128 * MEBIBYTE, fits: true });
    expect(peak).toBeGreaterThan(manifest.files[manifest.targets.edge?.model ?? ""]?.size ?? Number.NaN);
    expect((peak ?? 0) % WASM_PAGE).toBe(0);
  });

  it("counts what the longest text takes, which is too long to be timed", async () => {
    const folder = await temporaryFolder();
    const longest = 4096;
    const files = { "sentence_bert_config.json": JSON.stringify({ max_seq_length: longest }) };
    await writePreparableCheckpoint(folder, { config: { max_position_embeddings: longest }, files });
    const out = join(folder, "artifact");
    const { manifest } = await prepare({ folder, out, name: "long", targets: ["edge"] });
    const session = await (await engineOnThisMachine("wasm")).load(sourceOf(await openFolder(out), "wasm"));
    await session.run([new Int32Array(longest).fill(2000)]);
    expect(manifest.targets.edge?.memory?.peak).toBe(session.memoryBytes());
  });

  it("counts the model a second time for onnxruntime-web, which is given its bytes", async () => {
    const { manifest } = await calibrate(onOrtWeb(), { tokens: [8], rounds: 1 });
    const model = manifest.files["model.int8.onnx"]?.size ?? Number.NaN;
    const memory = ortMemory()?.buffer.byteLength ?? Number.NaN;
    expect(manifest.targets.edge?.memory).toEqual({ peak: memory + model, limit: 128 * MEBIBYTE, fits: true });
  });

  it("says that a model does not fit an isolate whose bytes alone fill it", async () => {
    const calibrated = await calibrate(onOrtWeb(128 * MEBIBYTE), { tokens: [8], rounds: 1 });
    expect(calibrated.manifest.targets.edge?.memory?.fits).toBe(false);
  });

  it("leaves out targets that the artifact does not have", async () => {
    const { "regional-cpu": region } = artifact.manifest.targets;
    const targets = region ? { "regional-cpu": region } : {};
    const without = { ...artifact, manifest: { ...artifact.manifest, targets } };
    const { calibration, manifest } = await calibrate(without, { tokens: [8], rounds: 1 });
    expect(Object.keys(calibration)).toEqual(["regional-cpu"]);
    expect(Object.keys(manifest.targets)).toEqual(["regional-cpu"]);
  });
});
