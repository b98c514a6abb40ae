import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  bytesOf,
  measurements,
  smallFiles,
  smallFolder,
  smallManifest,
  writeSmallFolder,
} from "#test/fixtures/small-artifact.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { writeMeasurements } from "../compile/pack/write-artifact.ts";
import { openFiles, openFolder } from "./folder-artifact.ts";
import { memoryStore } from "./memory.ts";
import { publish } from "./publish.ts";
import { readPointer } from "./published-artifact.ts";

async function folderWithArtifact() {
  const folder = join(await temporaryFolder(), "artifact");
  const files = smallFiles();
  const manifest = await smallManifest(files);
  await writeSmallFolder(folder);
  return { folder, files, manifest };
}

describe("an artifact folder", () => {
  it("reads back the files that were written", async () => {
    const { folder, files, manifest } = await folderWithArtifact();
    const artifact = await openFolder(folder);
    expect(artifact.manifest).toEqual(manifest);
    expect(artifact.measurements).toEqual(measurements);
    for (const [name, bytes] of files) expect(await artifact.read(name)).toEqual(bytes);
  });

  it("reads the same from a map of its files", async () => {
    const { folder, files, manifest } = await folderWithArtifact();
    const [inMemory, onDisk] = [await openFiles(await smallFolder()), await openFolder(folder)];
    expect(inMemory.manifestBytes).toEqual(onDisk.manifestBytes);
    expect(inMemory).toMatchObject({ manifest, measurements, version: onDisk.version });
    for (const [name, bytes] of files) expect(await inMemory.read(name)).toEqual(bytes);
    await expect(openFiles(new Map())).rejects.toMatchObject({ code: "artifact_missing" });
  });

  it("keeps its version when measurements change or are missing", async () => {
    const { folder } = await folderWithArtifact();
    const { version } = await openFolder(folder);
    const again = { edge: { latency: { base: 9, perToken: 0, perSquare: 0 } } };
    await writeMeasurements(folder, again);
    expect(await openFolder(folder)).toMatchObject({ version, measurements: again });
    await rm(join(folder, "measurements.json"));
    expect(await openFolder(folder)).toMatchObject({ version, measurements: {} });
    await writeFile(join(folder, "measurements.json"), '{"edge":{"latency":"fast"}}');
    await expect(openFolder(folder)).rejects.toMatchObject({
      code: "manifest_invalid",
      message: expect.stringContaining("measurements.json"),
    });
  });

  it("has the same version after it is published", async () => {
    const { folder } = await folderWithArtifact();
    const artifact = await openFolder(folder);
    const store = memoryStore();
    await publish(artifact, store);
    expect((await readPointer(store, "small")).version).toBe(artifact.version);
    expect(artifact.manifestBytes).toEqual(new Uint8Array(await readFile(join(folder, "manifest.json"))));
  });

  it.each([
    ["a folder without a manifest", async (folder: string) => mkdir(folder)],
    ["a folder that does not exist", async () => {}],
    ["a file", async (folder: string) => writeFile(folder, "x")],
  ])("cannot be opened from %s; the error says how to make an artifact", async (_, make) => {
    const folder = join(await temporaryFolder(), "artifact");
    await make(folder);
    await expect(openFolder(folder)).rejects.toMatchObject({
      code: "artifact_missing",
      message: expect.stringContaining(`${folder} is not an artifact`),
      hint: expect.stringContaining("bert-edge prepare <model folder>"),
    });
    const model = "sentence-transformers/all-MiniLM-L6-v2";
    await expect(openFolder(model)).rejects.toMatchObject({
      code: "artifact_missing",
      hint: expect.stringContaining(`bert-edge prepare ${model} --out`),
    });
  });

  it("is refused when its manifest.json is no artifact manifest", async () => {
    const { folder } = await folderWithArtifact();
    await writeFile(join(folder, "manifest.json"), JSON.stringify({ name: "A web app", start_url: "/" }));
    await expect(openFolder(folder)).rejects.toMatchObject({ code: "manifest_invalid" });
  });

  it.each([
    ["changed", (path: string) => writeFile(path, bytesOf("model of WEIGHTS")), "does not match its SHA-256"],
    ["cut short", (path: string) => writeFile(path, ""), "has 0 bytes instead of 16"],
    ["removed", (path: string) => rm(path), "is missing"],
    ["replaced by a folder", (path: string) => rm(path).then(() => mkdir(path)), "is missing"],
  ])("refuses a file that was %s, and names the path", async (_, damage, message) => {
    const { folder } = await folderWithArtifact();
    const path = join(folder, "model.int8.onnx");
    const artifact = await openFolder(folder);
    await damage(path);
    await expect(artifact.read("model.int8.onnx")).rejects.toMatchObject({
      code: "artifact_corrupt",
      message: `fs(${folder})/model.int8.onnx ${message}.`,
    });
  });
});
