import { beforeAll, describe, expect, it } from "vitest";
import { fewTokens } from "#test/fixtures/few-tokens.ts";
import { refusalOf } from "#test/fixtures/refusal.ts";
import { TINY_EDGE, tinyEdgeFile } from "#test/fixtures/tiny-edge-file.ts";
import { JSON_TOKENIZER, TINY, tinyArtifact } from "#test/fixtures/tiny-model.ts";
import { GOLDEN_FILE, writeGolden } from "../artifact/golden.ts";
import type { EmbedManifest } from "../artifact/manifest.ts";
import { readSafetensors } from "../artifact/safetensors.ts";
import { assertLoadable } from "./assert-loadable.ts";
import { PROGRAM_VERSION } from "./engine/wasm/run/program.ts";

/** Width of the tiny encoder's hidden states. */
const HIDDEN = 32;

describe("assertLoadable", () => {
  let file: Uint8Array<ArrayBuffer>;
  let artifact: Awaited<ReturnType<typeof tinyArtifact>>;
  beforeAll(async () => {
    file = await tinyEdgeFile("bert");
    artifact = await tinyArtifact("tiny", { tokenizer: JSON_TOKENIZER });
  });
  /** Checks an artifact with this model file as its edge target. */
  const outcome = (model: Uint8Array<ArrayBuffer>, changes: Partial<EmbedManifest> = {}) => {
    const edge = { ...artifact.manifest.targets.edge, engine: "wasm", model: "model" };
    const sizes = { vocabulary: TINY_EDGE.vocabulary, dimensions: HIDDEN };
    const manifest = { ...artifact.manifest, ...sizes, targets: { edge }, ...changes } as EmbedManifest;
    const files: Record<string, Uint8Array<ArrayBuffer>> = { model, "tokenizer.json": fewTokens() };
    const read = async (name: string) => files[name] ?? artifact.read(name);
    return refusalOf(assertLoadable({ manifest, read }));
  };
  const replaced = (text: string, by: string) => {
    const bytes = Buffer.from(file);
    bytes.write(by, bytes.indexOf(text));
    return new Uint8Array(bytes);
  };

  it("accepts an artifact that this version can load", async () => {
    expect(await outcome(file)).toBe("accepted");
    expect(await outcome(await tinyEdgeFile("bert in 4 bits"))).toBe("accepted");
  });

  it.each([
    { maxTokens: TINY_EDGE.maxTokens + 1 },
    { maxTokens: 2 ** 30 },
    { vocabulary: 2 ** 40 },
    { vocabulary: TINY_EDGE.vocabulary - 1 },
    { dimensions: 7 },
  ])("refuses a manifest that describes another model: %j", async (changes) => {
    expect(await outcome(file, changes)).toBe("model_invalid");
  });

  it("refuses a program of another version, and a damaged file", async () => {
    expect(await outcome(replaced(`\\"version\\":${PROGRAM_VERSION}`, '\\"version\\":1'))).toBe("model_version");
    expect(await outcome(file.slice(0, -1))).toBe("model_invalid");
  });

  it("refuses weights with NaN, in a file of any engine", async () => {
    for (const damaged of [file.slice(), await tinyEdgeFile("bert in 4 bits")]) {
      const { tensors } = readSafetensors(damaged, (fault) => new Error(fault));
      for (const [, { begin, dtype }] of tensors) {
        if (dtype !== "F32") continue;
        const before = damaged.slice(begin, begin + 4);
        new DataView(damaged.buffer).setFloat32(begin, Number.NaN, true);
        expect(await outcome(damaged)).toBe("model_invalid");
        damaged.set(before, begin);
      }
      expect(await outcome(damaged)).toBe("accepted");
    }
    const nan = new Uint8Array(Float32Array.of(Number.NaN).buffer);
    const onnx = Uint8Array.of(7 * 8 + 2, 10, 5 * 8 + 2, 8, 2 * 8, 1, 9 * 8 + 2, 4, ...nan);
    const edge = { ...artifact.manifest.targets.edge, engine: "ort-web", model: "model" };
    expect(await outcome(onnx, { targets: { edge } } as Partial<EmbedManifest>)).toBe("model_invalid");
  });

  it("refuses a tokenizer that cannot be read", async () => {
    const manifest = { ...artifact.manifest, tokenizer: { kind: "packed", file: "model.onnx" } } as EmbedManifest;
    expect(await refusalOf(assertLoadable({ manifest, read: artifact.read }))).toBe("tokenizer_invalid");
  });

  describe("before it becomes the current version", () => {
    const accepted = (changes: Partial<EmbedManifest>, golden = new Uint8Array()) => {
      const manifest = { ...artifact.manifest, ...changes } as EmbedManifest;
      const read = async (name: string) => (name === GOLDEN_FILE ? golden : artifact.read(name));
      return refusalOf(assertLoadable({ manifest, read }));
    };
    const { dimensions } = TINY;

    it("reads the golden texts", async () => {
      const golden = (size: number) => writeGolden({ texts: ["a"], vectors: [new Float32Array(size)] });
      expect(await accepted({ golden: GOLDEN_FILE }, golden(dimensions))).toBe("accepted");
      expect(await accepted({ golden: GOLDEN_FILE }, golden(dimensions + 1))).toBe("artifact_corrupt");
      expect(await accepted({ golden: GOLDEN_FILE }, golden(dimensions).slice(0, -1))).toBe("artifact_corrupt");
    });

    it("wants the default prompt to be one of the prompts", async () => {
      const prompts = { query: "query: " };
      expect(await accepted({ prompts, defaultPrompt: "query" })).toBe("accepted");
      expect(await accepted({ prompts, defaultPrompt: "toString" })).toBe("manifest_invalid");
      expect(await accepted({ defaultPrompt: "query" })).toBe("manifest_invalid");
    });

    it("wants each target to be for an engine of its tier", async () => {
      const { edge, "regional-cpu": cpu } = artifact.manifest.targets;
      expect(await accepted({ targets: { edge, "regional-cpu": cpu } })).toBe("accepted");
      expect(await accepted({ targets: { edge: cpu } })).toBe("engine_mismatch");
      expect(await accepted({ targets: { "regional-gpu": edge } })).toBe("engine_mismatch");
    });
  });
});
