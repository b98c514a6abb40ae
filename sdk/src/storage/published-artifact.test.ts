import { describe, expect, it } from "vitest";
import { bytesOf, smallArtifact, textOf } from "#test/fixtures/small-artifact.ts";
import { blobKey, pointerKey, versionOf } from "../artifact/keys.ts";
import type { Pointer } from "../artifact/pointer.ts";
import { sha256Hex } from "../artifact/sha256.ts";
import { memoryStore } from "./memory.ts";
import { publish } from "./publish.ts";
import { openPublished, readPointer } from "./published-artifact.ts";

const KEY = pointerKey("small");

/** Publishes a model to a store in memory. `objects` is the Map behind the store. */
async function published() {
  const objects = new Map<string, Uint8Array<ArrayBuffer>>();
  const store = memoryStore(objects);
  const artifact = await smallArtifact();
  await publish(artifact, store);
  const open = async () => openPublished(store, await readPointer(store, "small"));
  const keyOf = (file: string) => blobKey(artifact.manifest.files[file]?.sha256 ?? "");
  return { objects, store, artifact, open, keyOf };
}

describe("a published artifact", () => {
  it("reads manifest and files as they were published", async () => {
    const { open, artifact } = await published();
    const read = await open();
    expect(read.manifest).toEqual(artifact.manifest);
    expect(read.version).toBe(artifact.version);
    expect(read.measurements).toEqual(artifact.measurements);
    expect(await read.read("model.int8.onnx")).toEqual(artifact.files.get("model.int8.onnx"));
  });

  it("does not exist before it is published; the error names the store, the key and the command", async () => {
    await expect(readPointer(memoryStore(), "small")).rejects.toMatchObject({
      code: "model_not_published",
      message: "memory has no model named small: there is no object models/small/current.json.",
      hint: expect.stringContaining("bert-edge publish"),
    });
  });

  it("refuses a pointer that is not JSON", async () => {
    const { objects, open } = await published();
    objects.set(KEY, bytesOf("<html>Not Found</html>"));
    await expect(open()).rejects.toMatchObject({
      code: "pointer_invalid",
      message: expect.stringContaining("memory/models/small/current.json"),
    });
  });

  it("refuses a pointer to the manifest of another model", async () => {
    const { objects, open } = await published();
    const pointer = JSON.parse(textOf(objects.get(KEY) ?? new Uint8Array())) as Pointer;
    const text = (pointer.manifest.text ?? "").replace('"name":"small"', '"name":"other"');
    const sha256 = await sha256Hex(bytesOf(text));
    const swapped = { ...pointer, version: versionOf(sha256), manifest: { ...pointer.manifest, text, sha256 } };
    objects.set(KEY, bytesOf(JSON.stringify(swapped)));
    await expect(open()).rejects.toMatchObject({
      code: "pointer_invalid",
      message: expect.stringContaining(`names another model: other@${swapped.version}`),
    });
  });

  it("refuses a file with a changed bit and names its key; publishing it again with verify repairs it", async () => {
    const { objects, store, artifact, open, keyOf } = await published();
    const key = keyOf("model.int8.onnx");
    const bytes = objects.get(key) as Uint8Array<ArrayBuffer>;
    bytes[0] = (bytes[0] as number) ^ 1;
    const read = await open();
    await expect(read.read("model.int8.onnx")).rejects.toMatchObject({
      code: "artifact_corrupt",
      message: `memory/${key} does not match its SHA-256.`,
      hint: expect.stringContaining("bert-edge publish --verify"),
    });
    expect(await publish(artifact, store, { verify: true })).toMatchObject({ uploaded: 1 });
    expect(await read.read("model.int8.onnx")).toEqual(artifact.files.get("model.int8.onnx"));
  });

  it.each([
    ["cut short", (bytes: Uint8Array<ArrayBuffer>) => bytes.slice(0, -1), "instead of"],
    ["gone", () => undefined, "is missing"],
  ])("refuses a file that is %s", async (_, damage, message) => {
    const { objects, open, keyOf } = await published();
    const key = keyOf("tokenizer.json");
    const damaged = damage(objects.get(key) as Uint8Array<ArrayBuffer>);
    objects.delete(key);
    if (damaged) objects.set(key, damaged);
    await expect((await open()).read("tokenizer.json")).rejects.toMatchObject({
      code: "artifact_corrupt",
      message: expect.stringContaining(message),
    });
  });

  it("refuses a manifest that was changed", async () => {
    const { objects, open } = await published();
    const text = textOf(objects.get(KEY) as Uint8Array);
    objects.set(KEY, bytesOf(text.replace(String.raw`\"dimensions\":4`, String.raw`\"dimensions\":8`)));
    expect(objects.get(KEY)).not.toEqual(bytesOf(text));
    await expect(open()).rejects.toMatchObject({
      code: "artifact_corrupt",
      message: `The manifest in memory/${KEY} does not match its SHA-256.`,
    });
  });

  it("reads the manifest by its hash when the pointer does not contain its text", async () => {
    const { objects, artifact, open } = await published();
    const { manifest, ...pointer } = JSON.parse(textOf(objects.get(KEY) as Uint8Array)) as Pointer;
    const { text, ...content } = manifest;
    objects.set(KEY, bytesOf(JSON.stringify({ ...pointer, manifest: content })));
    expect((await open()).manifest).toEqual(artifact.manifest);
  });

  it("reads a manifest that begins with a byte order mark", async () => {
    const artifact = await smallArtifact();
    const manifestBytes = bytesOf(`\ufeff${textOf(artifact.manifestBytes)}`);
    const version = versionOf(await sha256Hex(manifestBytes));
    const store = memoryStore();
    await publish({ ...artifact, manifestBytes, version }, store);
    expect((await openPublished(store, await readPointer(store, "small"))).manifest).toEqual(artifact.manifest);
  });

  it("shows new measurements of the same version, once they are published", async () => {
    const { store, artifact, open } = await published();
    const measurements = { edge: { latency: { base: 9, perToken: 0, perSquare: 0 } } };
    expect(await publish({ ...artifact, measurements }, store)).toMatchObject({
      uploaded: 0,
      version: artifact.version,
    });
    expect(await open()).toMatchObject({ version: artifact.version, measurements });
  });

  it("still serves readers of an older version while a newer one is published", async () => {
    const { store, artifact, open } = await published();
    const older = await open();
    await publish(await smallArtifact("newer"), store);
    expect(await older.read("model.int8.onnx")).toEqual(artifact.files.get("model.int8.onnx"));
    expect((await open()).version).not.toBe(older.version);
  });
});
