import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { HEAD_VOCABULARY, writePreparableClassifier, writePreparableHead } from "#test/fixtures/classifier-case.ts";
import { listing, preparable, quick } from "#test/fixtures/preparable.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import type { TargetName } from "../../artifact/manifest.ts";
import { outputWidth } from "../../artifact/output-width.ts";
import { oneModel } from "../../runtime/engine/engine.ts";
import { ortNodeEngine } from "../../runtime/engine/ort-node/index.ts";
import { readModelFile } from "../../runtime/engine/wasm/load/model-file.ts";
import { startModel } from "../../runtime/start-model.ts";
import { outputsCall } from "../../runtime/tasks/outputs.ts";
import { cosine } from "../../runtime/tasks/sentence-vector.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import { INT8_LIMIT } from "../accuracy/limits.ts";
import { probeTexts } from "../accuracy/probe-texts.ts";
import { topLabel } from "../accuracy/tasks/classification.ts";
import type { Head } from "../checkpoint/task-head.ts";
import { describeModel, type TaskChoice } from "../model/describe-model.ts";
import { readTextModel } from "../model/text-model.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";
import { calibrationTexts } from "../quantize/calibration/calibration-texts.ts";
import { type PrepareOptions, prepare } from "./prepare.ts";
import { verify } from "./verify.ts";

const cpu = ["edge", "regional-cpu"] as const satisfies readonly TargetName[];

async function tinyClassifier(labels: readonly string[]) {
  const parent = await temporaryFolder();
  const folder = join(parent, "topics");
  await writePreparableClassifier(folder, labels);
  const out = join(parent, "artifact");
  return {
    folder,
    out,
    run: (more: Partial<PrepareOptions> = {}) => prepare({ model: folder, out, ...quick, ...more }),
  };
}

/** Returns the unfused float32 model's result for each text. */
async function float32(folder: string, texts: readonly string[], choice?: TaskChoice): Promise<Float32Array[]> {
  const model = await readTextModel(await describeModel(folder, choice));
  const session = await ortNodeEngine({ threads: 1, optimize: false }).load(oneModel(encodeOnnx(model.graph)));
  try {
    return await model.compute(session, texts);
  } finally {
    await session.release();
  }
}

describe("prepare of a classifier", () => {
  it("makes an artifact with labels; all targets choose the same label, and it cannot be served as an encoder", async () => {
    const { folder, out, run } = await tinyClassifier(["no", "maybe", "yes"]);
    const labelled = join(folder, "labelled.tsv");
    const names = ["no", "maybe", "yes"];
    const logits = await float32(folder, probeTexts);
    const lines = probeTexts.map((text, i) => `${text.trim()}\t${names[topLabel(logits[i] as Float32Array)]}`);
    await writeFile(labelled, lines.join("\n"));
    const { manifest, fusion } = await run({ labelled });
    expect(manifest).toMatchObject({ name: "topics", task: "classify", labels: names, maxTokens: 512 });
    expect(manifest).not.toHaveProperty("pooling");
    expect(fusion.top1).toBe(1);
    for (const target of Object.values(manifest.targets)) {
      expect(target?.parity.top1).toBeGreaterThanOrEqual(INT8_LIMIT.minTop1);
      expect(target?.task).toMatchObject({ metric: "accuracy", fp32: 100 });
      expect(target?.task?.score).toBeGreaterThanOrEqual(99.5);
    }
    const artifact = await openFolder(out);
    expect(artifact.manifest).toEqual(manifest);
    const model = await startModel(artifact, ortNodeEngine({ threads: 1 }));
    const call = model.call(outputsCall({ inputs: probeTexts, truncate: false }));
    expect((await call).map(topLabel)).toEqual(logits.map(topLabel));
    await model.release();
  });

  it("compares single logits by their differences between texts, not only by their signs", async () => {
    const { run } = await tinyClassifier(["score"]);
    const { manifest } = await run({ targets: ["edge"] });
    expect(manifest).toMatchObject({ labels: ["score"] });
    expect(manifest.targets.edge?.parity.meanCosine).toBeGreaterThanOrEqual(INT8_LIMIT.meanCosine);
    // If only the signs of the logits were compared, the mean cosine would be exactly 1.
    expect(manifest.targets.edge?.parity.meanCosine).toBeLessThan(1);
  });

  it("makes a program that takes pairs of texts, if the classifier does", async () => {
    const { run, out } = await tinyClassifier(["no", "yes"]);
    for (const input of ["pair", "text"] as const) {
      const { manifest } = await run({ targets: ["edge"], input });
      const file = await (await openFolder(out)).read(manifest.targets.edge?.model as string);
      expect(readModelFile(file).program.pairs).toBe(input === "pair" ? true : undefined);
    }
  });
});

describe("prepare of a head of tokens", () => {
  const labels = ["no", "maybe", "yes"];

  it.each<[Head, PrepareOptions["task"], object]>([
    ["token-classification", undefined, { task: "tag", labels }],
    ["question-answering", undefined, { task: "answer" }],
    ["masked-lm", "fill-mask", { task: "fill-mask", vocabulary: HEAD_VOCABULARY }],
    ["masked-lm", "sparse", { task: "sparse", vocabulary: HEAD_VOCABULARY }],
  ])("makes a %s an artifact whose targets agree with float32 (task %s)", async (head, task, described) => {
    const parent = await temporaryFolder();
    const model = join(parent, "model");
    await writePreparableHead(model, head);
    const out = join(parent, "artifact");
    const { manifest, fusion, passedOver } = await prepare({ model, out, task, ...quick });
    expect(manifest).toMatchObject(described);
    expect(passedOver).toEqual([]);
    expect(fusion.minCosine).toBeGreaterThan(0.999_999);
    expect(manifest.targets.edge).toMatchObject({ engine: "wasm", precision: "int8-edge" });
    for (const target of Object.values(manifest.targets)) {
      expect(target?.parity.meanCosine).toBeGreaterThanOrEqual(INT8_LIMIT.meanCosine);
      if (task !== "sparse") expect(target?.parity.top1).toBeGreaterThanOrEqual(INT8_LIMIT.minTop1);
    }
    const report = await verify({ artifact: out });
    expect(Object.values(report).map(({ failure }) => failure)).toEqual([undefined, undefined, undefined]);
    // Results of texts: a row for each token, or one sparse vector without negative numbers.
    const [result = new Float32Array()] = await float32(model, ["to be"], { task });
    if (task === "sparse")
      expect(result.every((weight) => weight >= 0) && result.some((weight) => weight > 0)).toBe(true);
    expect(result).toHaveLength(outputWidth(manifest, manifest.vocabulary) * (task === "sparse" ? 1 : 4));
  });
});

describe("prepare with pairs of sentences", () => {
  /**
   * Returns pairs of texts, sorted by the cosine of their float32 vectors. If the score of each pair is its rank, the
   * float32 model's correlation is 100.
   */
  async function pairs(folder: string) {
    const vectors = await float32(folder, probeTexts);
    const all = probeTexts.flatMap((first, i) =>
      probeTexts.slice(i + 1).map((second, j) => ({
        first: first.trim(),
        second: second.trim(),
        score: cosine(vectors[i] as Float32Array, vectors[i + 1 + j] as Float32Array),
      })),
    );
    return all.toSorted((a, b) => a.score - b.score);
  }
  const tsv = (rows: Awaited<ReturnType<typeof pairs>>) =>
    rows.map(({ first, second }, rank) => `${rank}\t${first}\t${second}`).join("\n");

  it("stores the scores of float32 and of the target, and refuses a target that loses more than 0.5 points", async () => {
    const { parent, folder, run } = await preparable();
    const sorted = await pairs(folder);
    const sts = join(folder, "sts.tsv");
    // A third of the pairs has texts enough.
    await writeFile(sts, tsv(sorted.filter((_, i) => i % 3 === 0)));
    const { manifest } = await run({ sts, targets: cpu });
    for (const name of cpu) {
      const { metric, score = 0, fp32 = 0 } = manifest.targets[name]?.task ?? {};
      expect(metric).toBe("sts");
      expect(fp32).toBeGreaterThan(99.9);
      expect(score).toBeGreaterThanOrEqual(fp32 - INT8_LIMIT.maxDrop);
      expect(score).toBeLessThanOrEqual(fp32);
    }

    // The similarities of these pairs are so close that 8-bit rounding changes their order.
    const middle = Math.floor(sorted.length / 2);
    await writeFile(sts, tsv(sorted.slice(middle - 6, middle + 6)));
    const before = await listing(parent);
    await expect(run({ sts, targets: ["edge"] })).rejects.toMatchObject({
      code: "accuracy_gate",
      message: expect.stringMatching(/sts \d+\.\d\d instead of \d+\.\d\d \(may drop by at most 0\.5\) over 61 texts/),
    });
    expect(await listing(parent)).toEqual(before);
  });
});

it("prepare chooses a more accurate precision for a higher minimum cosine", async () => {
  const { run } = await preparable();
  const targets = ["regional-cpu"] as const;
  const regionPrecision = "int8";
  const calibration = calibrationTexts;
  const fastest = (await run({ targets, regionPrecision, calibration })).manifest.targets["regional-cpu"];
  const int8Cosine = fastest?.parity.meanCosine ?? Number.NaN;
  expect(fastest?.precision).toBe("int8");

  const asked = (await run({ targets, regionPrecision, calibration, minCosine: int8Cosine + 1e-9 })).manifest.targets[
    "regional-cpu"
  ];
  expect(asked).toMatchObject({ precision: "int8-blocks", kept: [] });
  expect(asked?.parity.meanCosine).toBeGreaterThan(int8Cosine);
});
