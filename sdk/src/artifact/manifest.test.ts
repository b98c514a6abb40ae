import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { places, replaced } from "#test/fixtures/json-places.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { smallFiles, smallManifest } from "#test/fixtures/small-artifact.ts";
import { CHUNK_BYTES, type EmbedManifest, type Manifest, parseManifest, sentenceEncoder } from "./manifest.ts";
import { outputWidth } from "./output-width.ts";

const sha256 = "0123456789abcdef".repeat(4);

let manifest: Manifest;
beforeAll(async () => {
  manifest = await smallManifest(smallFiles());
});

describe("parseManifest", () => {
  const refused = (change: Record<string, unknown>) => {
    const text = JSON.stringify({ ...manifest, ...change });
    return () => parseManifest(text, "here");
  };
  const invalid = (message: string) =>
    expect.objectContaining({ code: "manifest_invalid", message: expect.stringContaining(message) });

  it("reads back what was written", () => {
    expect(parseManifest(JSON.stringify(manifest), "here")).toEqual(manifest);
  });

  it("reads classifiers, which have labels and no pooling", () => {
    const { pooling, normalize, dimensions, ...rest } = manifest as EmbedManifest;
    const classifier = { ...rest, task: "classify", input: "pair", labels: ["no", "yes"] };
    expect(parseManifest(JSON.stringify(classifier), "here")).toEqual(classifier);
    expect(() => parseManifest(JSON.stringify({ ...classifier, labels: [] }), "here")).toThrow(invalid("labels"));
    expect(() => parseManifest(JSON.stringify({ ...classifier, input: "texts" }), "here")).toThrow(invalid("input"));
    expect(refused({ task: "classify" })).toThrow(invalid("labels"));
    expect(refused({ task: "translate" })).toThrow(invalid("task"));
    expect(refused({ pooling: undefined })).toThrow(invalid("pooling"));
  });

  it.each([
    [{ task: "tag", labels: ["O", "B-person"] }, 2],
    [{ task: "answer" }, 2],
    [{ task: "fill-mask", mask: { id: 103, token: "[MASK]" } }, undefined],
    [{ task: "sparse" }, undefined],
    [{ task: "token-vectors", dimensions: 128 }, 128],
  ])("reads the task %j, whose output has the width %s (default: the vocabulary)", (task, width) => {
    const { pooling, normalize, dimensions, ...rest } = manifest as EmbedManifest;
    const parsed = parseManifest(JSON.stringify({ ...rest, ...task }), "here");
    expect(parsed).toEqual({ ...rest, ...task });
    expect(outputWidth(parsed, parsed.vocabulary)).toBe(width ?? parsed.vocabulary);
  });

  it("keeps a target's score and the nodes that stay in a higher precision", () => {
    const edge = { ...manifest.targets.edge, kept: ["layer"], task: { metric: "sts", score: 80, fp32: 80.2 } };
    const whole = { ...manifest, targets: { edge } };
    expect(parseManifest(JSON.stringify(whole), "here")).toEqual(whole);
  });

  it.each([2 ** 31 + 1, 2 ** 33, 2 ** 50, 1e300])(
    "refuses a file of %d bytes before memory for it is allocated",
    (size) => {
      expect(refused({ files: { ...manifest.files, "model.onnx": { sha256, size } } })).toThrow(
        invalid("model.onnx.size"),
      );
    },
  );

  it("keeps chunk hashes, and refuses a number of hashes that does not match the file's size", () => {
    const withChunks = (size: number, count: number) => {
      const file = { sha256, size, chunks: Array.from({ length: count }, () => sha256) };
      return { files: { ...manifest.files, "model.onnx": file } };
    };
    for (const [size, count] of [
      [0, 0],
      [1, 1],
      [CHUNK_BYTES, 1],
      [CHUNK_BYTES + 1, 2],
      [2 * CHUNK_BYTES, 2],
    ] as const) {
      const whole = { ...manifest, ...withChunks(size, count) };
      expect(parseManifest(JSON.stringify(whole), "here")).toEqual(whole);
      for (const wrong of [count - 1, count + 1].filter((wrong) => wrong >= 0)) {
        expect(refused(withChunks(size, wrong)), `${wrong} of ${size} bytes`).toThrow(invalid("number of chunks"));
      }
    }
    const file = { sha256, size: 1, chunks: ["0123"] };
    expect(refused({ files: { ...manifest.files, "model.onnx": file } })).toThrow(invalid("64 lower-case"));
  });

  it("ignores keys that a later version may add", () => {
    expect(parseManifest(JSON.stringify({ ...manifest, colour: "green" }), "here")).toEqual(manifest);
  });

  it("names the source of the text, says what is wrong with it and how to fix it", () => {
    expect(() => parseManifest("<html>", "s3(models)/small")).toThrow(
      expect.objectContaining({
        code: "manifest_invalid",
        message: "The manifest at s3(models)/small is not JSON.",
        hint: expect.stringContaining("bert-edge prepare"),
        cause: expect.any(SyntaxError),
      }),
    );
  });

  it("names the key that is wrong", () => {
    expect(refused({ targets: { edge: { ...manifest.targets.edge, engine: "ort-gpu" } } })).toThrow(
      invalid("targets.edge.engine"),
    );
  });

  it("refuses a format it does not know", () => {
    expect(refused({ format: "bert-edge/1" })).toThrow(invalid("format"));
  });

  it.each(["../secrets", "a/b", "/etc/passwd", ".env", "", "a\\b", "a\n"])("refuses a file named %j", (name) => {
    expect(refused({ files: { ...manifest.files, [name]: { sha256, size: 1 } } })).toThrow(invalid("plain file name"));
  });

  it.each(["Small", "-small", "a/b", "a b", "", "a".repeat(65), "small\n"])("refuses a model named %j", (name) => {
    expect(refused({ name })).toThrow(invalid("name"));
  });

  it("refuses a tokenizer that is not among the files", () => {
    expect(refused({ tokenizer: { kind: "json", json: "other.json", config: "tokenizer_config.json" } })).toThrow(
      invalid("must be listed in files"),
    );
  });

  it.each(["constructor", "toString", "__proto__"])(
    "does not accept %s, a property of every object, as a file name",
    (name) => {
      expect(refused({ tokenizer: { kind: "packed", file: name } })).toThrow(invalid("must be listed in files"));
    },
  );

  it("returns a manifest or throws manifest_invalid, for any change of any key", () => {
    const paths = places(manifest);
    fc.assert(
      fc.property(fc.nat(paths.length - 1), fc.option(fc.jsonValue(), { nil: undefined }), (at, value) => {
        const text = JSON.stringify(replaced(manifest, paths[at] as string[], value)) ?? "";
        expect(["accepted", "manifest_invalid"]).toContain(refusal(() => parseManifest(text, "here")));
      }),
      seeded(500),
    );
  });

  it("throws manifest_invalid for any other text, including a truncated manifest", () => {
    const whole = JSON.stringify(manifest);
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.nat(whole.length - 1).map((end) => whole.slice(0, end)),
    );
    fc.assert(
      fc.property(text, (text) => {
        expect(refusal(() => parseManifest(text, "here"))).toBe("manifest_invalid");
      }),
      seeded(300),
    );
  });
});

describe("sentenceEncoder", () => {
  it("returns manifests of sentence encoders; refuses a classifier and names it", () => {
    expect(sentenceEncoder(manifest)).toBe(manifest);
    const classifier = { ...manifest, task: "classify", labels: ["no"] } as Manifest;
    expect(() => sentenceEncoder(classifier)).toThrow(
      expect.objectContaining({
        code: "task_unsupported",
        message: "The model small has the task classify, not embed.",
      }),
    );
  });
});
