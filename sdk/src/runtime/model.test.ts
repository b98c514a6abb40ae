import { describe, expect, it } from "vitest";
import { fewTokens } from "#test/fixtures/few-tokens.ts";
import { fakeEngine, hiddenStatesOf, JSON_TOKENIZER, latch, TINY, tinyArtifact } from "#test/fixtures/tiny-model.ts";
import type { ModelShape, TokenIds } from "./engine/engine.ts";
import { startModel } from "./start-model.ts";
import { embedCall } from "./tasks/embed.ts";
import { sentenceVector } from "./tasks/sentence-vector.ts";

const TEXTS = ["to be", "or not to be"];
/** Text with more tokens than the model accepts. */
const LONG = "word ".repeat(TINY.maxTokens);

const tinyModel = async (options?: Parameters<typeof fakeEngine>[0]) =>
  startModel(await tinyArtifact(), fakeEngine(options));

describe("Model.embed", () => {
  it("returns one pooled and normalized vector per text", async () => {
    const model = await tinyModel();
    const sequences = TEXTS.map((text) => model.tokenizer.encode(text, TINY.maxTokens).ids);
    expect(await model.call(embedCall(TEXTS))).toEqual(
      sequences.map((ids) =>
        sentenceVector(hiddenStatesOf(ids), TINY.dimensions, { pooling: "mean", normalize: true }),
      ),
    );
  });

  it.each([
    ["only invisible characters has no tokens of its own", "\u200b\0\ud800", [101, 102]],
    [
      "special tokens that are spelt out has these tokens, as in transformers",
      "a [SEP] b",
      [101, 1037, 102, 1038, 102],
    ],
  ])("a text of %s", async (_, text, ids) => {
    const { tokenizer } = await tinyModel();
    expect([...tokenizer.encode(text, TINY.maxTokens).ids]).toEqual(ids);
  });

  it("pools and normalizes as the manifest says", async () => {
    const model = await startModel(await tinyArtifact("tiny", { pooling: "cls", normalize: false }), fakeEngine());
    const { ids } = model.tokenizer.encode("to be", TINY.maxTokens);
    expect(await model.call(embedCall(["to be"]))).toEqual([hiddenStatesOf(ids).slice(0, TINY.dimensions)]);
  });

  it("refuses a text that is too long before it computes anything, and names its index", async () => {
    const engine = fakeEngine();
    const model = await startModel(await tinyArtifact(), engine);
    await expect(model.call(embedCall(["to be", LONG]))).rejects.toMatchObject({
      code: "input_too_long",
      message: expect.stringContaining("Input 1"),
      hint: expect.stringContaining("truncate"),
    });
    expect(engine.sessions[0]?.runs).toBe(0);
  });

  it("embeds the beginning of a text that is too long if `truncate` is set", async () => {
    const model = await tinyModel();
    expect(await model.call(embedCall([LONG], { truncate: true }))).toEqual(
      await model.call(embedCall(["word ".repeat(TINY.maxTokens - 2)])),
    );
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])("fails instead of returning a vector with %d", async (value) => {
    const run = async (sequences: readonly TokenIds[]) => sequences.map((ids) => hiddenStatesOf(ids).fill(value, 0, 1));
    const model = await startModel(await tinyArtifact("tiny", { normalize: false }), fakeEngine({ run }));
    await expect(model.call(embedCall(TEXTS))).rejects.toMatchObject({ code: "vector_invalid" });
  });

  it("names what an engine throws, which need not be an Error", async () => {
    const model = await tinyModel({ run: () => Promise.reject(7) });
    await expect(model.call(embedCall(TEXTS))).rejects.toMatchObject({
      code: "engine_failed",
      message: expect.stringContaining(`${model.version} cannot be run on fake: 7`),
      cause: 7,
    });
  });

  it("fails instead of returning vectors of another size than the manifest's", async () => {
    const run = async (sequences: readonly TokenIds[]) =>
      sequences.map((ids) => new Float32Array(ids.length * (TINY.dimensions + 1)));
    const model = await startModel(await tinyArtifact("tiny", { normalize: false }), fakeEngine({ run }));
    await expect(model.call(embedCall(TEXTS))).rejects.toMatchObject({ code: "model_invalid" });
  });
});

describe("startModel", () => {
  it("refuses and releases a model whose special tokens leave no room for texts", async () => {
    const artifact = await tinyArtifact("tiny", { tokenizer: JSON_TOKENIZER });
    const read = async (file: string) =>
      file === "tokenizer.json" ? fewTokens(around("a", TINY.maxTokens)) : artifact.read(file);
    const engine = fakeEngine();
    const started = startModel({ ...artifact, read }, engine);
    await expect(started).rejects.toMatchObject({
      code: "tokenizer_invalid",
      message: "The tokenizer of tiny puts 16 tokens around texts, but the model takes 16 tokens in all.",
    });
    expect(engine.sessions[0]?.releases).toBe(1);
  });
});

/** A post-processor that puts a token `count` times before each text. */
const around = (token: string, count: number) => ({
  type: "TemplateProcessing",
  single: [...Array(count).fill({ SpecialToken: { id: token, type_id: 0 } }), { Sequence: { id: "A", type_id: 0 } }],
  special_tokens: { [token]: { id: token, ids: [0], tokens: [token] } },
});

describe("startModel", () => {
  const shape: ModelShape = { maxTokens: TINY.maxTokens, vocabulary: 30_522, width: TINY.dimensions };
  const started = async (changes: Partial<ModelShape>) => {
    const engine = fakeEngine();
    const load: typeof engine.load = async (files) => ({
      ...(await engine.load(files)),
      shape: { ...shape, ...changes },
    });
    return { engine, model: startModel(await tinyArtifact(), { ...engine, load }) };
  };

  it("starts a model whose file has the sizes of its manifest", async () => {
    await expect((await started({})).model).resolves.toMatchObject({ target: "edge" });
  });

  it.each([{ maxTokens: 15 }, { vocabulary: 30_521 }, { width: 9 }])(
    "refuses and releases a model whose file has other sizes than its manifest: %j",
    async (changes) => {
      const { engine, model } = await started(changes);
      await expect(model).rejects.toMatchObject({ code: "model_invalid" });
      expect(engine.sessions[0]?.releases).toBe(1);
    },
  );
});

describe("Model.run", () => {
  it("returns the vectors that embed returns, the number of tokens, and the computation time without loading", async () => {
    const clock = { now: 0 };
    const model = await tinyModel({
      ready: async () => {
        clock.now += 400;
      },
      run: async (sequences) => {
        clock.now += 7;
        return sequences.map(hiddenStatesOf);
      },
    });
    const { sequences } = model.encode(embedCall(TEXTS).on(model.manifest));
    const { outputs, tokens, computeMs } = await model.run(sequences, () => clock.now);
    expect(outputs).toEqual(await model.call(embedCall(TEXTS)));
    expect({ tokens, computeMs }).toEqual({ tokens: 4 + 6, computeMs: 7 });
  });
});

describe("startModel", () => {
  it("passes the model file of the requested target to the engine", async () => {
    const engine = fakeEngine({ target: "regional-cpu" });
    const artifact = await tinyArtifact("the weights");
    const { version, target, provider } = await startModel(artifact, engine);
    expect(engine.sessions.map(({ weights }) => weights)).toEqual(["the weights"]);
    expect({ version, target, provider }).toEqual({
      version: artifact.version,
      target: "regional-cpu",
      provider: "fake",
    });
  });

  it("names a missing target, and how to prepare it", async () => {
    const starting = startModel(await tinyArtifact("tiny", { targets: {} }), fakeEngine({ target: "regional-gpu" }));
    await expect(starting).rejects.toMatchObject({
      code: "target_missing",
      message: expect.stringContaining("regional-gpu"),
      hint: expect.stringContaining("--targets"),
    });
  });

  it("fails with the error of a file that could not be read", async () => {
    const artifact = await tinyArtifact();
    const read = async () => Promise.reject(new Error("the disk is on fire"));
    await expect(startModel({ ...artifact, read }, fakeEngine())).rejects.toThrow("the disk is on fire");
  });

  it("releases a session that starts although the tokenizer could not be read", async () => {
    const { manifest, ...artifact } = await tinyArtifact();
    const files = Object.values(manifest.tokenizer);
    const started = latch();
    const read = async (file: string) => (files.includes(file) ? Promise.reject(new Error("no")) : artifact.read(file));
    const engine = fakeEngine({ onLoad: () => started.promise });
    const starting = startModel({ ...artifact, manifest, read }, engine);
    setImmediate(started.resolve);
    await expect(starting).rejects.toThrow("no");
    expect(engine.sessions.map(({ releases }) => releases)).toEqual([1]);
  });
});
