import { beforeAll, describe, expect, it } from "vitest";
import { preparedDefault } from "#test/fixtures/prepared.ts";
import { smallArtifact } from "#test/fixtures/small-artifact.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { fakeEngine, tinyArtifact } from "#test/fixtures/tiny-model.ts";
import type { EmbedManifest, Manifest } from "../artifact/manifest.ts";
import { ortNodeEngine } from "../runtime/engine/ort-node/index.ts";
import { cosine } from "../runtime/tasks/sentence-vector.ts";
import { openFolder } from "../storage/folder-artifact.ts";
import { memoryStore } from "../storage/memory.ts";
import { publish } from "../storage/publish.ts";
import { loadModel } from "./load-model.ts";

const TEXTS = ["to be", "not to be"];

describe("loadModel", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await preparedDefault();
  });

  it("embeds texts with the WebAssembly engine", async () => {
    const model = await loadModel(folder);
    const { embeddings, ...details } = await model.embed(TEXTS);
    expect(embeddings.map(({ length }) => length)).toEqual([384, 384]);
    expect(details).toEqual({ model: "bert-edge-mini", version: model.version, tokens: expect.any(Number) });
    expect({ target: model.target, provider: model.provider }).toEqual({ target: "edge", provider: "wasm" });
    await model.release();
  });

  it("accepts another engine, which loads the target that was made for it", async () => {
    await using wasm = await loadModel(folder);
    await using native = await loadModel(folder, { engine: ortNodeEngine() });
    expect({ target: native.target, provider: native.provider }).toEqual({ target: "regional-cpu", provider: "cpu" });
    const [a, b] = [await wasm.embed(TEXTS), await native.embed(TEXTS)];
    for (const [i, vector] of a.embeddings.entries())
      expect(cosine(vector, b.embeddings[i] as Float32Array)).toBeGreaterThan(0.98);
  });

  it("loads an opened artifact, and a published model by its name", async () => {
    await using expected = await loadModel(folder);
    const artifact = await openFolder(folder);
    await using opened = await loadModel(artifact);
    const store = memoryStore();
    await publish(artifact, store);
    await using published = await loadModel("bert-edge-mini", { store });
    const vectors = await expected.embed(TEXTS);
    expect(await opened.embed(TEXTS)).toEqual(vectors);
    expect(await published.embed(TEXTS)).toEqual(vectors);
  });

  it("releases a model at the end of its block", async () => {
    let model: Awaited<ReturnType<typeof loadModel>>;
    {
      await using inBlock = await loadModel(folder);
      model = inBlock;
    }
    await expect(model.embed(TEXTS)).rejects.toMatchObject({ code: "session_released" });
  });

  it("refuses a folder without an artifact", async () => {
    await expect(loadModel(await temporaryFolder())).rejects.toMatchObject({ code: "artifact_missing" });
  });

  it("refuses a model that the store does not have", async () => {
    await expect(loadModel("tiny", { store: memoryStore() })).rejects.toMatchObject({ code: "model_not_published" });
  });

  it("refuses an artifact without a target for the engine, and names the engine to use", async () => {
    const artifact = await smallArtifact();
    await expect(loadModel(artifact)).rejects.toMatchObject({
      code: "engine_mismatch",
      hint: expect.stringContaining("bert-edge/engine/ort-web"),
    });
    await expect(loadModel(artifact, { engine: ortNodeEngine() })).rejects.toMatchObject({
      code: "target_missing",
      hint: expect.stringContaining("regional-cpu"),
    });
  });

  it.each([
    [undefined, {}],
    [new URL("file:///artifact"), {}],
    [{}, {}],
    ["", {}],
    ["./artifact", null],
    ["./artifact", { threads: 2 }],
    ["./artifact", { engine: ortNodeEngine }],
    ["tiny", { store: "s3://models" }],
  ])("refuses to be called with %j and %j", async (source, options) => {
    await expect(loadModel(source as never, options as never)).rejects.toMatchObject({
      code: "setting_invalid",
      hint: expect.any(String),
    });
  });

  it.each([
    [7],
    [undefined],
    [[null]],
    [["a"], { truncate: "END" }],
    [["a"], { prompt_name: "query" }],
    [["a"], { latencyBudgetMs: 50 }],
  ])("refuses embed(%j, %j)", async (texts, options?: unknown) => {
    await using model = await loadModel(await tinyArtifact("tiny"), { engine: fakeEngine() });
    await expect(model.embed(texts as never, options as never)).rejects.toMatchObject({ code: "request_invalid" });
  });

  it("embeds nothing with a classifier", async () => {
    const classifier = { task: "classify", input: "text", labels: ["no", "yes"] } as Partial<Manifest>;
    const artifact = await tinyArtifact("tiny", classifier as Partial<EmbedManifest>);
    await using model = await loadModel(artifact, { engine: fakeEngine() });
    await expect(model.embed(["a"])).rejects.toMatchObject({ code: "task_unsupported" });
  });
});
