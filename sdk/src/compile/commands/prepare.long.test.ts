import { rmSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { listing, preparable, quick, set } from "#test/fixtures/preparable.ts";
import { reportValidator } from "#test/fixtures/report-schema.ts";
import { writeSmallFolder } from "#test/fixtures/small-artifact.ts";
import { preparableConfig, type TinyFolderOptions, writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";
import type { Artifact } from "../../artifact/artifact.ts";
import { describeFile } from "../../artifact/describe-file.ts";
import { targetNames } from "../../artifact/manifest.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { startModel } from "../../runtime/start-model.ts";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { cosine } from "../../runtime/tasks/sentence-vector.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import { FP16_LIMIT } from "../accuracy/limits.ts";
import { readTensors } from "../checkpoint/read-tensors.ts";
import { describeModel } from "../model/describe-model.ts";
import { readTextModel } from "../model/text-model.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import type { Progress } from "../stages/stage.ts";
import { type PrepareOptions, type PrepareReport, prepare } from "./prepare.ts";

const ROBERTA = { model_type: "roberta", pad_token_id: 1, type_vocab_size: 1, max_position_embeddings: 64 };

const cpu = ["edge", "regional-cpu"] as const;

/** Expects that the models of both tiers load and compute nearly the same vector. */
async function expectAgreement(artifact: Artifact): Promise<void> {
  const vectors: Float32Array[] = [];
  for (const engine of ["wasm", "ort-node"] as const) {
    const model = await startModel(artifact, await engineOnThisMachine(engine));
    vectors.push(...(await model.call(embedCall(["Where is the mill?"]))));
    await model.release();
  }
  const [edge, region] = vectors as [Float32Array, Float32Array];
  expect(edge).toHaveLength(16);
  expect(Math.hypot(...edge)).toBeCloseTo(1, 6);
  // The vectors differ a little: the edge uses 7-bit weights and integer attention, the region uses 8-bit weights and
  // float32 attention.
  expect(cosine(edge, region)).toBeGreaterThan(0.9999);
}

describe("prepare", () => {
  it("makes an artifact with every target, checked and timed", async () => {
    const { run, out } = await preparable();
    const report = await run();
    const artifact = await openFolder(out);
    expect(artifact.manifest).toEqual(report.manifest);
    expect(artifact.measurements).toEqual(report.measurements);
    expect(report.manifest.targets).toMatchObject({
      edge: { engine: "wasm", precision: "int8-edge", model: "model.int8-edge.safetensors" },
      "regional-cpu": { engine: "ort-node", precision: "int8-mixed", model: "model.int8-mixed.onnx" },
      "regional-gpu": { engine: "ort-node", precision: "fp16", model: "model.fp16.onnx" },
    });
    for (const target of cpu) {
      const { base = 0, perToken = 0, perSquare = 0 } = report.measurements[target]?.latency ?? {};
      expect(base + perToken + perSquare).toBeGreaterThan(0);
    }
    expect(report.measurements["regional-gpu"]).toBeUndefined();
    // The folder contains exactly the files that the manifest lists, with their content.
    expect((await readdir(out)).sort()).toEqual(
      ["manifest.json", "measurements.json", ...Object.keys(artifact.manifest.files)].sort(),
    );
    for (const [name, file] of Object.entries(artifact.manifest.files)) {
      expect(await describeFile(await artifact.read(name))).toEqual(file);
    }
    expect(report.stages.map(({ stage }) => stage)).toEqual([
      ...["read", "read", "estimate", "fuse", "check", "observe"],
      ...targetNames.flatMap(() => ["quantize", "measure"]),
      ...["time", "write"],
    ]);
    const validate = await reportValidator();
    validate(JSON.parse(JSON.stringify(report)));
    expect(validate.errors).toBeNull();

    const model = await startModel(artifact, await engineOnThisMachine("ort-node"));
    const { texts = [], vectors = [] } = (await model.golden()) ?? {};
    expect(texts.length).toBeGreaterThanOrEqual(5);
    const found = await model.call(embedCall(texts));
    vectors.forEach((vector, index) => {
      expect(cosine(vector, found[index] as Float32Array)).toBeGreaterThanOrEqual(FP16_LIMIT.minCosine);
    });
    await model.release();
  });

  it("reports which engine could not run a target, and why", async () => {
    const { run } = await preparable({ config: { num_attention_heads: 8 } });
    const { manifest, passedOver } = await run({ targets: ["edge"] });
    expect(manifest.targets.edge).toMatchObject({ engine: "ort-web", precision: "int8" });
    expect(passedOver).toEqual([
      {
        target: "edge",
        engine: "wasm",
        why: expect.stringMatching(/^The edge engine cannot run .*Attention .*: .*head size/),
      },
    ]);
  });

  it("keeps nodes in float32 that overflow fp16, reports them, and makes only the requested target and its files", async () => {
    const { run } = await preparable({ edit: set("encoder.layer.0.intermediate.dense.weight", 1e6) });
    const { manifest } = await run({ targets: ["regional-gpu"] });
    const { kept, parity } = manifest.targets["regional-gpu"] ?? {};
    expect(Object.keys(manifest.targets)).toEqual(["regional-gpu"]);
    expect(Object.keys(manifest.files).sort()).toEqual([
      ...["golden.safetensors", "model.fp16.onnx", "tokenizer.safetensors"],
    ]);
    expect(kept).toContain("layer.0.output.product");
    expect(parity?.minCosine).toBeGreaterThanOrEqual(FP16_LIMIT.minCosine);
  });

  it("writes the same bytes and version for the same checkpoint, from a folder and from memory", async () => {
    const { run, out, folder } = await preparable();
    const { version } = await run({ targets: cpu });
    const written = await openFolder(out);
    const names = (await readdir(folder)).filter((name) => name.includes("."));
    const files = new Map(
      await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)),
    );
    const { artifact } = await prepare({ model: files, name: "tiny-model", targets: cpu, ...quick });
    expect(artifact.version).toBe(version);
    expect(artifact.manifestBytes).toEqual(written.manifestBytes);
    for (const file of Object.keys(written.manifest.files)) {
      expect(await artifact.read(file), file).toEqual(await written.read(file));
    }
    await expectAgreement(artifact);
  });

  it("reads what the folder's model computes once: config.json is not needed after the first stage begins", async () => {
    const { run, folder } = await preparable();
    const onProgress = ({ stage }: Progress) => {
      if (stage === "read") rmSync(join(folder, "config.json"), { force: true });
    };
    const { manifest } = await run({ targets: ["regional-gpu"], onProgress });
    expect(manifest.vocabulary).toBe(preparableConfig.vocab_size);
  });

  it("records the accepted keys of modules in the manifest and in the report", async () => {
    const { folder, out, run } = await preparable();
    await writeFile(join(folder, "sentence_bert_config.json"), JSON.stringify({ mood: 1 }));
    const acceptKeys = ["Transformer.mood"];
    const report = await run({ targets: ["edge"], acceptKeys });
    expect((await openFolder(out)).manifest).toMatchObject({ acceptedKeys: acceptKeys });
    expect(report.reading).toMatchObject({ accepted_keys: acceptKeys });
    expect(report.warnings.map(({ code }) => code)).toContain("keys_accepted");
    const validate = await reportValidator();
    validate(JSON.parse(JSON.stringify(report)));
    expect(validate.errors).toBeNull();
  });

  it("stops when the signal aborts, and leaves nothing behind", async () => {
    const { run, parent } = await preparable();
    const before = await listing(parent);
    const abort = new AbortController();
    const onProgress = ({ stage }: Progress) => stage === "observe" && abort.abort();
    await expect(run({ onProgress, signal: abort.signal })).rejects.toMatchObject({ code: "aborted" });
    expect(await listing(parent)).toEqual(before);
  });

  it("makes the same edge target from a model's ONNX export", async () => {
    const [checkpoint, exported] = [await preparable(), await preparable()];
    const { graph } = await readTextModel(await describeModel(exported.folder));
    await mkdir(join(exported.folder, "onnx"));
    await writeOnnx(join(exported.folder, "onnx", "model.onnx"), graph);
    await rm(join(exported.folder, "model.safetensors"));
    const tensors = [checkpoint, exported].map(async ({ run, out }) => {
      const { manifest } = await run({ targets: ["edge"] });
      expect(manifest.targets.edge?.engine).toBe("wasm");
      const file = await readFile(join(out, manifest.targets.edge?.model as string));
      return [...readTensors(new Uint8Array(file), "edge").values()]
        .map(({ data }) => Buffer.from(data))
        .sort(Buffer.compare);
    });
    expect(await tensors[1]).toEqual(await tensors[0]);
  });

  it("reads the ONNX file that is named, with the tokenizer one folder above, and not the safetensors beside it", async () => {
    const [checkpoint, other] = [await preparable(), await preparable({ seed: 2 })];
    const named = join(checkpoint.folder, "onnx", "model_O2.onnx");
    await mkdir(join(checkpoint.folder, "onnx"));
    await writeOnnx(named, (await readTextModel(await describeModel(other.folder))).graph);
    await writeOnnx(
      join(checkpoint.folder, "onnx", "model.onnx"),
      (await readTextModel(await describeModel(checkpoint.folder))).graph,
    );
    const edgeHash = async ({ manifest }: PrepareReport) =>
      manifest.files[manifest.targets.edge?.model as string]?.sha256;
    const ofNamed = await checkpoint.run({ model: named, targets: ["edge"] });
    expect(ofNamed.manifest.name).toBe("tiny-model");
    await rm(join(other.folder, "model.safetensors"));
    await writeOnnx(join(other.folder, "model.onnx"), (await readTextModel(await describeModel(named))).graph);
    expect(await edgeHash(ofNamed)).toBe(await edgeHash(await other.run({ targets: ["edge"] })));
  });

  it("refuses an export that accepts fewer tokens than config.json declares", async () => {
    const { folder, run } = await preparable({ config: ROBERTA });
    await writeOnnx(join(folder, "model.onnx"), (await readTextModel(await describeModel(folder))).graph);
    await rm(join(folder, "model.safetensors"));
    const config = join(folder, "config.json");
    const text = await readFile(config, "utf8");
    await writeFile(config, text.replace('"pad_token_id":1', '"pad_token_id":0'));
    await expect(run()).rejects.toMatchObject({
      code: "checkpoint_invalid",
      message: "The model cannot run on 63 tokens, the maximum that its folder declares.",
      hint: expect.stringContaining("pad_token_id"),
    });
  });

  it("times a model whose maximum is below the shortest default length", async () => {
    const { run } = await preparable({ files: { "sentence_bert_config.json": '{"max_seq_length":5}' } });
    const { measurements } = await run({ targets: ["regional-cpu"] });
    const latency = measurements["regional-cpu"]?.latency;
    // Only one length was timed, so the fit needs only one of its three terms. It does not matter which term.
    expect((latency?.base ?? 0) + 5 * (latency?.perToken ?? 0) + 25 * (latency?.perSquare ?? 0)).toBeGreaterThan(0);
  });
});

describe("prepare with a cache", () => {
  const unchanged = (report: PrepareReport) =>
    report.stages.flatMap(({ message }) =>
      message.endsWith("unchanged since an earlier run") ? [message.split(":")[0]] : [],
    );

  /** The cache of a run that made the edge target, and a copy of it for each test. */
  let filled: string;
  beforeAll(async () => {
    filled = await mkdtemp(join(tmpdir(), "bert-edge-cache-"));
    const model = join(filled, "tiny-model");
    await writePreparableCheckpoint(model);
    await prepare({ model, targets: ["edge"], ...quick, cache: join(filled, "cache") });
    return () => rm(filled, { recursive: true });
  });
  async function copy(options?: TinyFolderOptions) {
    const { parent, run } = await preparable(options);
    const cache = join(parent, "cache");
    await cp(join(filled, "cache"), cache, { recursive: true });
    return { cache, run };
  }

  it("prepares only the targets that are new", async () => {
    const { cache, run } = await copy();
    const both = await run({ cache, targets: cpu });
    expect(unchanged(both)).toEqual(["the fused graph", "edge"]);
    expect(both.manifest.targets).toEqual((await run({ targets: cpu })).manifest.targets);
  });

  it.each<[string, Partial<PrepareOptions>, string[]]>([
    ["calibration texts", { calibration: ["other", "words and more of them"] }, ["the fused graph"]],
    // The tables of this model are too small to quantize, so the artifact is the same.
    ["bits of the table", { tableBits: 4 }, ["the fused graph", "times of the CPU targets"]],
    ["minimum cosine", { minCosine: 0.995 }, ["the fused graph", "times of the CPU targets"]],
  ])("computes again what other %s change", async (_, more, kept) => {
    const { cache, run } = await copy();
    expect(unchanged(await run({ cache, targets: ["edge"], ...more }))).toEqual(kept);
  });

  it("computes everything again for other weights", async () => {
    const { cache, run } = await copy({ edit: set("encoder.layer.0.output.dense.weight", 0.5) });
    expect(unchanged(await run({ cache, targets: ["edge"] }))).toEqual([]);
  });
});

describe("prepare refuses, and an earlier artifact at `out` stays as it was:", () => {
  async function expectRefusal(options: TinyFolderOptions, expected: object, more: Partial<PrepareOptions> = {}) {
    const { run, out, parent } = await preparable(options);
    await writeSmallFolder(out);
    const earlier = await listing(parent);
    await expect(run(more)).rejects.toMatchObject(expected);
    expect(await listing(parent)).toEqual(earlier);
  }

  it("a model below the minimum cosine, with the cosine of each layer", async () => {
    await expectRefusal(
      {},
      {
        code: "accuracy_gate",
        message: expect.stringMatching(/^edge on ort-web differs .* \(must be at least 1\).*\n {2}\d\.\d+ {2}\S/s),
      },
      { targets: ["edge"], minCosine: 1 },
    );
  });

  it("a model that computes NaN in float32, with the name of the layer", async () => {
    await expectRefusal(
      { edit: set("embeddings.LayerNorm.weight", 1e30) },
      {
        code: "calibration_invalid",
        message: expect.stringMatching(/^Linear layer "layer\.0\.attention/),
      },
    );
  });
});
