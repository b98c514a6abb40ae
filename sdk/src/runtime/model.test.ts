import { describe, expect, it } from "vitest";
import { fakeEngine, statesOf, TINY, tinyArtifact } from "#test/fixtures/tiny-model.ts";
import type { TokenIds } from "./engine/engine.ts";
import { loadModel } from "./model.ts";
import { sentenceVector } from "./tasks/sentence-vector.ts";

describe("loadModel", () => {
  it("gives a model that tokenizes and makes one vector a sequence", async () => {
    const artifact = await tinyArtifact();
    const model = await loadModel(artifact, fakeEngine());
    expect(model.version).toBe(artifact.version);
    const sequences = ["to be", "or not to be"].map((text) => model.tokenizer.encode(text, TINY.maxTokens).ids);
    const vectors = await model.embed(sequences);
    expect(vectors).toEqual(
      sequences.map((ids) => sentenceVector(statesOf(ids), TINY.dimensions, { pooling: "mean", normalize: true })),
    );
  });

  it("pools and normalizes as the manifest says", async () => {
    const model = await loadModel(await tinyArtifact("tiny", { pooling: "cls", normalize: false }), fakeEngine());
    const ids = Int32Array.of(101, 7, 102);
    const [vector] = await model.embed([ids]);
    expect(vector).toEqual(statesOf(ids).slice(0, TINY.dimensions));
  });

  it("hands the engine the file of the target that it asks for", async () => {
    const engine = fakeEngine({ target: "regional-cpu" });
    await loadModel(await tinyArtifact("the weights"), engine);
    expect(engine.sessions.map(({ weights }) => weights)).toEqual(["the weights"]);
  });

  it("names the target that the model was prepared without, and how to get it", async () => {
    const loading = loadModel(await tinyArtifact("tiny", { targets: {} }), fakeEngine({ target: "regional-gpu" }));
    await expect(loading).rejects.toMatchObject({
      code: "target_missing",
      message: expect.stringContaining("regional-gpu"),
      hint: expect.stringContaining("--targets"),
    });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])("fails rather than give a vector with %d", async (value) => {
    const run = async (sequences: readonly TokenIds[]) => sequences.map((ids) => statesOf(ids).fill(value, 0, 1));
    const model = await loadModel(await tinyArtifact("tiny", { normalize: false }), fakeEngine({ run }));
    await expect(model.embed([Int32Array.of(101, 7, 102)])).rejects.toMatchObject({ code: "vector_invalid" });
  });

  it("fails with what reading a file failed with", async () => {
    const artifact = await tinyArtifact();
    const read = async () => Promise.reject(new Error("the disk is on fire"));
    await expect(loadModel({ ...artifact, read }, fakeEngine())).rejects.toThrow("the disk is on fire");
  });

  it("releases the session where the tokenizer cannot be read, even if that is loaded last", async () => {
    const { manifest, ...artifact } = await tinyArtifact();
    const files = Object.values(manifest.tokenizer);
    const read = async (file: string) => (files.includes(file) ? Promise.reject(new Error("no")) : artifact.read(file));
    const engine = fakeEngine({ onLoad: () => new Promise((resolve) => setTimeout(resolve, 20)) });
    await expect(loadModel({ ...artifact, manifest, read }, engine)).rejects.toThrow("no");
    expect(engine.sessions.map(({ releases }) => releases)).toEqual([1]);
  });
});
