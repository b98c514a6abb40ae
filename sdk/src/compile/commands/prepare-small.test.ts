import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { quick } from "#test/fixtures/preparable.ts";
import { writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { assertLoadable } from "../../runtime/assert-loadable.ts";
import { readModelFile } from "../../runtime/engine/wasm/load/model-file.ts";
import { wholeModel } from "../../runtime/start-model.ts";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { cosine } from "../../runtime/tasks/sentence-vector.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import { calibrationTexts } from "../quantize/calibration/calibration-texts.ts";
import { type PrepareOptions, prepare } from "./prepare.ts";
import { verify } from "./verify.ts";

const texts = ["Where is the mill?", "The mill is by the river."];

let parent: string;
let whole: Awaited<ReturnType<typeof edge>>;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "bert-edge-small-"));
  await writePreparableCheckpoint(join(parent, "model"), { config: { hidden_size: 64, intermediate_size: 256 } });
  whole = await edge({});
  return () => rm(parent, { recursive: true });
});

/** Prepares the edge target. Returns its size, its manifest, and vectors of two texts. */
async function edge(options: Partial<PrepareOptions>) {
  const out = join(parent, JSON.stringify(options).replaceAll(/\W/g, "-").slice(0, 100));
  const files = { model: join(parent, "model"), out, cache: join(parent, "cache") };
  const report = await prepare({ ...files, targets: ["edge"], ...quick, ...options });
  const artifact = await openFolder(out);
  const target = report.manifest.targets.edge ?? expect.unreachable();
  await using model = await wholeModel(artifact, await engineOnThisMachine("wasm"));
  const vectors = await model.call(embedCall(texts));
  const file = await readFile(join(out, target.model));
  return {
    ...{ out, report, target, vectors, file: readModelFile(file) },
    bytes: file.length,
    memory: model.memoryBytes() ?? expect.unreachable(),
  };
}

describe("prepare", () => {
  it("makes a smaller file with weights of 4 bits, which the engine expands once", async () => {
    const small = await edge({ weightBits: 4, tableBits: 4 });
    expect(whole.target.weights).toBeUndefined();
    expect(small.target.weights).toEqual({ layers: 4, layersInFourBits: 4, tableBits: 4, expanded: "once" });
    expect(small.bytes).toBeLessThan(0.7 * whole.bytes);
    for (const [i, vector] of small.vectors.entries()) {
      const agreement = cosine(vector, whole.vectors[i] ?? expect.unreachable());
      expect(agreement).toBeGreaterThan(0.98);
      expect(agreement).toBeLessThan(1);
    }
  });

  it("expands weights in each call if they do not fit into the maximum memory, with the same vectors", async () => {
    const once = await edge({ weightBits: 4 });
    const each = await edge({ weightBits: 4, maxMemory: once.bytes });
    expect(each.target.weights).toMatchObject({ expanded: "each call" });
    expect(each.memory).toBeLessThanOrEqual(once.memory + 2 ** 16);
    expect(each.vectors).toEqual(once.vectors);
  });

  it("chooses the bits of each part for a maximum size", async () => {
    const maxSize = whole.bytes - 5_000;
    const fitted = await edge({ maxSize });
    expect(fitted.bytes).toBeLessThanOrEqual(maxSize);
    const { layersInFourBits = 0, tableBits = 0 } = fitted.target.weights ?? {};
    expect([layersInFourBits, tableBits]).not.toEqual([0, 8]);
    expect([layersInFourBits, tableBits]).not.toEqual([4, 4]);
    expect(fitted.report.stages.map(({ stage }) => stage)).toContain("fit");
    const unlimited = await edge({ maxSize: whole.bytes });
    expect(unlimited.target.weights).toBeUndefined();
    expect(unlimited.vectors).toEqual(whole.vectors);
  });

  it("names the smallest size if the maximum cannot be reached", async () => {
    const refused = await edge({ maxSize: 10_000 }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "model_too_large", hint: expect.stringMatching(/--max-size 0\.\dMB/) });
  });

  it("cuts the token embedding table into pages if the weights do not fit in each call either, with the same vectors", async () => {
    const once = await edge({ weightBits: 4 });
    const paged = await edge({ weightBits: 4, maxMemory: once.bytes - 100_000 });
    const { pages = [] } = paged.target;
    expect(pages).toEqual(["model.int8-edge.pages-1.bin"]);
    expect(paged.report.manifest.files).toHaveProperty(pages);
    expect(paged.bytes).toBeLessThan(once.bytes - 100_000);
    expect(paged.vectors).toEqual(once.vectors);
    expect(paged.report.edge).toMatchObject({ fileBytes: paged.bytes, pages: { count: expect.any(Number) } });
    expect(await verify({ artifact: paged.out })).toMatchObject({ edge: { failure: undefined } });
    const { manifest, read } = await openFolder(paged.out);
    await assertLoadable({ manifest, read });
    const { pages: _, ...without } = paged.target;
    const withoutPages = { ...manifest, targets: { edge: without } };
    await expect(assertLoadable({ manifest: withoutPages, read })).rejects.toMatchObject({ code: "manifest_invalid" });
  });

  it("refuses a maximum memory into which too few rows fit", async () => {
    const refused = await edge({ weightBits: 4, maxMemory: 10_000 }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "model_too_large", message: expect.stringContaining("too large") });
  });

  it("cuts the token embedding table into pages if that is wanted, and still expands weights once", async () => {
    const once = await edge({ weightBits: 4 });
    const paged = await edge({ weightBits: 4, pages: true });
    expect(paged.target.weights).toMatchObject({ expanded: "once" });
    expect(paged.target.pages).toHaveLength(1);
    expect(paged.bytes).toBeLessThan(once.bytes);
    expect(paged.memory).toBeLessThan(once.memory + 2 * 2 ** 16);
    expect(paged.vectors).toEqual(once.vectors);
  });

  it("counts the tokens of all calibration texts for pages, and observes activations on some", async () => {
    const frequent = async (calibration: readonly string[]) => {
      const { program } = (await edge({ weightBits: 4, pages: true, calibration })).file;
      const lookup = program.steps.find((step) => step.op === "lookup") ?? expect.unreachable();
      return lookup.pages?.frequent.length ?? expect.unreachable();
    };
    const some = calibrationTexts.slice(0, 2);
    const other = "The council elected a governor of the county in 1923.";
    // Of so many texts, every second is observed.
    const many = Array.from({ length: 1_200 }, (_, i) => (i % 2 === 0 ? some[(i / 2) % 2] : other)) as string[];
    const tokens = await frequent([...some, other]);
    expect(tokens).toBeGreaterThan(await frequent(some));
    expect(await frequent(many)).toBe(tokens);
  });
});
