import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { writtenCase } from "#test/fixtures/checked-golden.ts";
import { writePreparableClassifier } from "#test/fixtures/classifier-case.ts";
import { listing, preparable, quick, set } from "#test/fixtures/preparable.ts";
import { reportValidator } from "#test/fixtures/report-schema.ts";
import { writeSmallFolder } from "#test/fixtures/small-artifact.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { preparableConfig, type TinyFolderOptions, writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";
import { tokenizerJson } from "#test/fixtures/tokenizer-json.ts";
import type { Artifact } from "../../artifact/artifact.ts";
import { describeFile } from "../../artifact/describe-file.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { startModel } from "../../runtime/start-model.ts";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { cosine } from "../../runtime/tasks/sentence-vector.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import { FP16_LIMIT, INT8_LIMIT } from "../accuracy/limits.ts";
import { describeModel } from "../model/describe-model.ts";
import { readTextModel } from "../model/text-model.ts";
import { modelName } from "../stages/assemble-artifact.ts";
import type { Progress } from "../stages/stage.ts";
import { type PrepareOptions, type PrepareReport, prepare } from "./prepare.ts";

// Targets with int8 kernels of onnxruntime are in prepare.long.test.ts.
const targets = ["edge", "regional-gpu"] as const;

/** Expects that this work reports shares that rise to 1, and that no other work interrupts it. */
function expectWholeWork(seen: readonly Progress[], message: string): void {
  const places = seen.flatMap((each, at) => (each.message === message ? [at] : []));
  expect(places).toEqual(places.map((_, i) => (places[0] as number) + i));
  const shares = places.flatMap((at) => seen[at]?.fraction ?? []);
  expect(
    shares.toSorted((a, b) => a - b),
    message,
  ).toEqual(shares);
  expect(shares.at(-1), message).toBe(1);
}

describe("prepare", () => {
  /** Folder of the checkpoint `tiny-model`, of its artifact, and of the cache that this artifact filled. */
  let parent: string;
  let model: string;
  let report: PrepareReport;
  let artifact: Artifact;
  const seen: Progress[] = [];
  const run = (more: Partial<PrepareOptions> = {}) =>
    prepare({ model, targets, ...quick, cache: join(parent, "cache"), ...more });
  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), "bert-edge-prepare-"));
    model = join(parent, "tiny-model");
    await writePreparableCheckpoint(model);
    report = await run({ out: join(parent, "artifact"), onProgress: (progress) => seen.push(progress) });
    artifact = await openFolder(join(parent, "artifact"));
    return () => rm(parent, { recursive: true });
  });

  it("describes the model and its targets in the manifest", () => {
    expect(artifact.manifest).toEqual(report.manifest);
    expect(report.version).toBe(artifact.version);
    expect(report.manifest).toMatchObject({
      name: "tiny-model",
      task: "embed",
      pooling: "mean",
      normalize: true,
      dimensions: 16,
      maxTokens: 64,
      vocabulary: preparableConfig.vocab_size,
      golden: "golden.safetensors",
      targets: {
        edge: { engine: "wasm", precision: "int8-edge", model: "model.int8-edge.safetensors", kept: [] },
        "regional-gpu": { engine: "ort-node", precision: "fp16", model: "model.fp16.onnx", kept: [] },
      },
    });
    expect(Object.keys(report.manifest.targets)).toEqual(targets);
    expect(report.manifest).not.toHaveProperty("draft");
    const { edge, "regional-gpu": half } = report.manifest.targets;
    expect(edge?.parity.meanCosine).toBeGreaterThanOrEqual(INT8_LIMIT.meanCosine);
    expect(half?.parity.meanCosine).toBeGreaterThanOrEqual(FP16_LIMIT.meanCosine);
  });

  it("writes exactly the files that the manifest lists, with their content", async () => {
    expect((await readdir(join(parent, "artifact"))).sort()).toEqual(
      ["manifest.json", "measurements.json", ...Object.keys(artifact.manifest.files)].sort(),
    );
    expect(Object.keys(artifact.manifest.files).sort()).toEqual([
      ...["golden.safetensors", "model.fp16.onnx", "model.int8-edge.safetensors", "tokenizer.safetensors"],
    ]);
    for (const [name, file] of Object.entries(artifact.manifest.files)) {
      expect(await describeFile(await artifact.read(name))).toEqual(file);
    }
  });

  it("times the CPU targets only, and measures the memory of the edge", () => {
    expect(artifact.measurements).toEqual(report.measurements);
    expect(Object.keys(report.measurements)).toEqual(["edge"]);
    const { latency, memory } = report.measurements.edge ?? {};
    expect((latency?.base ?? 0) + (latency?.perToken ?? 0) + (latency?.perSquare ?? 0)).toBeGreaterThan(0);
    expect(memory?.fits).toBe(true);
  });

  it("reports what it did, as docs/prepare-report.schema.json describes it", async () => {
    expect(report).toMatchObject({ source: undefined, excused: [], passedOver: [] });
    expect(report.nodes.after).toBeLessThan(report.nodes.before / 4);
    expect(report.fused).toMatchObject({ Attention: 1, SkipLayerNormalization: 2 });
    expect(report.fusion.minCosine).toBeGreaterThan(0.999_999);
    expect(Object.keys(report.latency.ms)).toEqual(["edge"]);
    const validate = await reportValidator();
    validate(JSON.parse(JSON.stringify(report)));
    expect(validate.errors).toBeNull();
  });

  it("runs the stages in their order, and reports the progress of each", () => {
    expect(report.stages.map(({ stage }) => stage)).toEqual([
      ...["read", "read", "estimate", "fuse", "check", "observe"],
      ...targets.flatMap(() => ["quantize", "measure"]),
      ...["time", "write"],
    ]);
    const messages = seen.map(({ message }) => message);
    expect(messages).toEqual(expect.arrayContaining(report.stages.map(({ message }) => message)));
    for (const message of [
      "check the fused graph",
      "compare with the unfused graph",
      "observe activations",
      "quantize edge on wasm, int8-edge",
      "measure edge on wasm, int8-edge",
      "measure regional-gpu on ort-node, fp16",
      "time the CPU targets",
    ]) {
      expectWholeWork(seen, message);
    }
  });

  it("writes golden texts that the tokenizer does not cut, with the vectors of the float32 model", async () => {
    const loaded = await startModel(artifact, await engineOnThisMachine("wasm"));
    const { texts = [], vectors = [] } = (await loaded.golden()) ?? {};
    expect(texts.length).toBeGreaterThanOrEqual(5);
    const found = await loaded.call(embedCall(texts));
    vectors.forEach((vector, index) => {
      expect(cosine(vector, found[index] as Float32Array)).toBeGreaterThanOrEqual(INT8_LIMIT.minCosine);
    });
    for (const text of texts) {
      expect(loaded.tokenizer.encode(text, artifact.manifest.maxTokens).tokens).toBeLessThan(64);
    }
    await loaded.release();
  });

  describe("with a cache", () => {
    const unchanged = ({ stages }: PrepareReport) =>
      stages.flatMap(({ message }) =>
        message.endsWith("unchanged since an earlier run") ? [message.split(":")[0]] : [],
      );

    it("computes nothing again that has not changed, and makes the same artifact", async () => {
      const out = join(await temporaryFolder(), "artifact");
      const again = await run({ out });
      expect(unchanged(report)).toEqual([]);
      expect(unchanged(again)).toEqual(["the fused graph", ...targets, "times of the CPU targets"]);
      expect(again.stages.map(({ stage }) => stage)).not.toContain("observe");
      expect({ ...again, stages: [] }).toEqual({ ...report, stages: [] });
      const [files, first] = [await listing(out), await listing(join(parent, "artifact"))];
      expect([...files.values()]).toEqual([...first.values()]);
    });

    it("keeps the artifact in memory without an output folder, also for a model in memory", async () => {
      const names = await readdir(model);
      const files = await Promise.all(names.map(async (name) => [name, await readFile(join(model, name))] as const));
      const inMemory = await prepare({
        ...{ model: new Map(files), name: "Tiny-Model", targets, ...quick },
        cache: join(parent, "cache"),
      });
      expect(unchanged(inMemory)).toEqual(["the fused graph", ...targets, "times of the CPU targets"]);
      expect(inMemory.stages.map(({ stage }) => stage)).not.toContain("write");
      expect(inMemory.artifact.version).toBe(report.version);
      expect(inMemory.artifact.measurements).toEqual(report.measurements);
      for (const file of Object.keys(report.manifest.files)) {
        expect(await inMemory.artifact.read(file), file).toEqual(await artifact.read(file));
      }
    });

    it("prepares a first look with fewer texts, and says so in manifest and report", async () => {
      const folder = await temporaryFolder();
      const [cache, out] = [join(folder, "cache"), join(folder, "artifact")];
      await cp(join(parent, "cache"), cache, { recursive: true });
      // A first look takes every eighth text.
      const calibration = Array.from({ length: 16 }, (_, i) => `text number ${i}`);
      const fast = { model, out, cache, fast: true } as const;
      const first = await prepare({ ...fast, calibration });
      expect(Object.keys(first.manifest.targets)).toEqual(["edge"]);
      expect(first.manifest.draft).toBe(true);
      expect(first.warnings.map(({ code }) => code)).toContain("draft");
      expect(first.measurements.edge?.latency).toBeDefined();
      expect((await openFolder(out)).manifest).toEqual(first.manifest);
      expect(unchanged(first)).toEqual(["the fused graph"]);
      const others = calibration.map((text, i) => (i % 8 === 0 ? text : "other"));
      expect(unchanged(await prepare({ ...fast, calibration: others }))).toEqual([
        ...["the fused graph", "edge", "times of the CPU targets"],
      ]);
    });
  });

  it("compares with a golden file, whose texts become golden texts, and reports what the file does not show", async () => {
    const { folder, golden, lines } = await writtenCase("embed");
    await writeFile(golden, lines.slice(0, 7).join("\n"));
    const proven = await prepare({ model: folder, golden, targets: ["edge"], ...quick });
    expect(proven.golden).toMatchObject({ file: golden, lines: 7 });
    expect(proven.golden?.worst.agreement).toBeGreaterThan(0.999_99);
    expect(proven.warnings.map(({ code }) => code)).toEqual(["length_limited", "golden_prompts"]);
    expect(proven.stages.map(({ message }) => message)).toContain(`compare with ${golden}`);
    const validate = await reportValidator();
    validate(JSON.parse(JSON.stringify({ ...proven, artifact: undefined })));
    expect(validate.errors).toBeNull();
    const loaded = await startModel(proven.artifact, await engineOnThisMachine("wasm"));
    const { texts = [], vectors = [] } = (await loaded.golden()) ?? {};
    expect(texts.slice(0, 2)).toEqual(["Anna works for ACME Corp.", "where does she live?"]);
    expect(texts).toContain("ask for the example: Anna works for ACME Corp.");
    expect(texts).toHaveLength(vectors.length);
    const [first = new Float32Array()] = await loaded.call(embedCall(texts.slice(0, 1)));
    expect(cosine(first, vectors[0] as Float32Array)).toBeGreaterThanOrEqual(INT8_LIMIT.minCosine);
    await loaded.release();
  });

  it("refuses a golden file of another model before the first stage, and other answers before the graph is fused", async () => {
    const { folder, golden } = await writtenCase("embed, cls without Normalize");
    const stages: string[] = [];
    const onProgress = ({ stage }: Progress) => stages.push(stage);
    const other = run({ golden, onProgress });
    await expect(other).rejects.toMatchObject({
      code: "data_unsuitable",
      message: expect.stringContaining("Line 1 of"),
    });
    expect(stages).toEqual([]);
    await rm(join(folder, "1_Pooling/config.json"));
    await writeFile(join(folder, "1_Pooling/config.json"), JSON.stringify({ pooling_mode: "max" }));
    const out = join(await temporaryFolder(), "artifact");
    const wrong = run({ model: folder, golden, out, onProgress });
    await expect(wrong).rejects.toMatchObject({
      code: "golden_mismatch",
      hint: expect.stringContaining("with cls pooling"),
    });
    expect(stages).not.toContain("fuse");
    await expect(readdir(out)).rejects.toThrow("ENOENT");
  });

  it.each(["my model", "../up", "", "é"])("refuses the name %j before any other work", async (name) => {
    const stages: string[] = [];
    const work = prepare({
      model: "/nowhere",
      out: "/nowhere",
      name,
      onProgress: ({ message }) => stages.push(message),
    });
    await expect(work).rejects.toMatchObject({ code: "name_invalid", hint: expect.stringContaining("--name") });
    expect(stages).toEqual([]);
  });

  it("refuses to overwrite a folder that is not an artifact, before any other work", async () => {
    const out = join(await temporaryFolder(), "precious");
    await writeFile(out, "precious");
    await expect(run({ out, model: "/nowhere" })).rejects.toMatchObject({ code: "out_occupied" });
    expect(await readFile(out, "utf8")).toBe("precious");
  });

  it("refuses an output folder that cannot be made, and a model that does not exist", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "file"), "");
    const below = run({ out: join(folder, "file/artifact"), model: "/nowhere" });
    await expect(below).rejects.toMatchObject({ code: "out_unwritable" });
    const missing = run({ out: join(folder, "artifact"), model: join(folder, "none") });
    await expect(missing).rejects.toMatchObject({ code: "checkpoint_missing" });
    expect(await readdir(folder)).toEqual(["file"]);
  });

  it("refuses sentence pairs for a classifier and labels for an encoder, before the first stage", async () => {
    const folder = await temporaryFolder();
    const classifier = join(folder, "topics");
    await writePreparableClassifier(classifier, ["a", "b"]);
    const before = await listing(folder);
    for (const more of [{ model: classifier, sts: "pairs.tsv" }, { labelled: "labels.tsv" }]) {
      const stages: string[] = [];
      const work = run({ out: join(folder, "out"), onProgress: ({ stage }) => stages.push(stage), ...more });
      await expect(work).rejects.toMatchObject({ code: "data_unsuitable" });
      expect(stages).toEqual([]);
    }
    expect(await listing(folder)).toEqual(before);
  });

  it.each(["read", "fuse"])("stops when the signal aborts in the stage %s, and leaves nothing behind", async (at) => {
    const folder = await temporaryFolder();
    const abort = new AbortController();
    const onProgress = ({ stage }: Progress) => stage === at && abort.abort();
    const work = run({ out: join(folder, "artifact"), onProgress, signal: abort.signal });
    await expect(work).rejects.toMatchObject({ code: "aborted" });
    expect(await readdir(folder)).toEqual([]);
  });
});

describe("prepare refuses, and leaves `out` as it was:", () => {
  /** Expects that `prepare` rejects. An empty folder at `out` must stay empty, and an earlier artifact must stay as it was. */
  async function expectRefusal(options: TinyFolderOptions, expected: object) {
    const { run, out, parent } = await preparable(options);
    const before = await listing(parent);
    await expect(run()).rejects.toMatchObject(expected);
    expect(await listing(parent), "nothing is written where nothing was").toEqual(before);

    await writeSmallFolder(out);
    const earlier = await listing(parent);
    await expect(run()).rejects.toMatchObject(expected);
    expect(await listing(parent), "an earlier artifact stays").toEqual(earlier);
  }

  it.each([
    ["NaN", Number.NaN],
    ["infinity", Number.POSITIVE_INFINITY],
  ])("a checkpoint with %s in one weight", async (_, value) => {
    const name = "encoder.layer.0.output.dense.weight";
    const message = expect.stringContaining(`${name} holds NaN or infinite`);
    await expectRefusal({ edit: set(name, value) }, { code: "checkpoint_invalid", message });
  });

  it("a tokenizer.json that is not a tokenizer", async () => {
    await expectRefusal(
      { files: { "tokenizer.json": '{"model":{}}' } },
      {
        code: "checkpoint_unsupported",
        message: expect.stringContaining("tokenizer.json has the mod"),
      },
    );
  });

  it("a tokenizer with a larger vocabulary than the model", async () => {
    await expectRefusal(
      { config: { vocab_size: 1000 }, files: { "tokenizer.json": tokenizerJson(2000) } },
      {
        code: "checkpoint_invalid",
        message: expect.stringMatching(/has the token id \d+, but the model's vocabulary size is 1000/),
      },
    );
  });
});

describe("what prepare reads", () => {
  it("has the pooling, normalization and maximum length of sentence-transformers' files", async () => {
    const { folder } = await preparable({
      files: {
        "modules.json": JSON.stringify([
          { path: "", type: "sentence_transformers.models.Transformer" },
          { path: "1_Pooling", type: "sentence_transformers.models.Pooling" },
        ]),
        "1_Pooling/config.json": '{"pooling_mode_cls_token":true}',
        "sentence_bert_config.json": '{"max_seq_length":32}',
      },
    });
    expect(await readTextModel(await describeModel(folder))).toMatchObject({
      task: { pooling: "cls", normalize: false },
      maxTokens: 32,
    });
  });

  it("has inputs of at most as many tokens as there are positions", async () => {
    const { folder } = await preparable({ files: { "sentence_bert_config.json": '{"max_seq_length":512}' } });
    expect((await readTextModel(await describeModel(folder))).maxTokens).toBe(64);
  });

  it.each([
    ["Tiny-BERT_v1.5", "tiny-bert_v1.5"],
    ["x", "x"],
  ])("names the model %s %s", (name, expected) => {
    expect(modelName(name, "/models/other")).toBe(expected);
    expect(modelName(undefined, `/models/${name}`)).toBe(expected);
  });
});
