import fs, { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { bytesOf, measurements, smallFiles, smallManifest, textOf } from "#test/fixtures/small-artifact.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import { writeArtifact, writeMeasurements } from "./write-artifact.ts";

/** Writes a small artifact whose model file contains `content`. */
async function write(out: string, content: string): Promise<void> {
  const files = smallFiles(content);
  await writeArtifact(out, { manifest: await smallManifest(files), measurements, files });
}

const modelOf = async (out: string) => textOf(await (await openFolder(out)).read("model.int8.onnx"));

describe("writeArtifact", () => {
  it("writes the manifest and its files, and creates the folder", async () => {
    const folder = await temporaryFolder();
    await write(join(folder, "deep/er/artifact"), "weights");
    expect(await modelOf(join(folder, "deep/er/artifact"))).toBe("model of weights");
    expect((await readdir(join(folder, "deep/er/artifact"))).sort()).toEqual(
      ["manifest.json", "measurements.json", ...smallFiles().keys()].sort(),
    );
  });

  it("writes into an empty folder", async () => {
    const folder = await temporaryFolder();
    await write(folder, "weights");
    expect(await modelOf(folder)).toBe("model of weights");
  });

  it("replaces an older artifact and all its files, and leaves nothing else behind", async () => {
    const folder = await temporaryFolder();
    const out = join(folder, "artifact");
    const older = smallFiles("older").set("model.fp16.onnx", bytesOf("no longer made"));
    await writeArtifact(out, { manifest: await smallManifest(older), measurements, files: older });
    await write(out, "newer");
    expect(await modelOf(out)).toBe("model of newer");
    expect((await readdir(out)).sort()).toEqual(["manifest.json", "measurements.json", ...smallFiles().keys()].sort());
    expect(await readdir(folder)).toEqual(["artifact"]);
  });

  it("replaces an artifact of another format, and one whose files are gone", async () => {
    const out = join(await temporaryFolder(), "artifact");
    await mkdir(out);
    await writeFile(join(out, "manifest.json"), '{"format":"bert-edge/0","files":{"model.bin":{}}}');
    await writeFile(join(out, "model.bin"), "x");
    await write(out, "first");
    await writeFile(
      join(out, "manifest.json"),
      '{"format":"bert-edge/9","files":{"tokenizer.json":{},"model.int8.onnx":{},"tokenizer_config.json":{},"gone":{}}}',
    );
    await write(out, "second");
    expect(await modelOf(out)).toBe("model of second");
  });

  it.each<[string, Record<string, string>, string]>([
    ["anything but an artifact", { "thesis.tex": "x" }, "holds thesis.tex"],
    ["the manifest.json of a web app", { "manifest.json": '{"name":"A web app","files":{}}' }, "holds manifest.json"],
    ["a manifest.json that is not JSON", { "manifest.json": "{" }, "holds manifest.json"],
    [
      "a file that its manifest does not list",
      { "notes.txt": "x", "manifest.json": '{"format":"bert-edge/1","files":{}}' },
      "holds notes.txt",
    ],
  ])("refuses a folder with %s, and leaves it untouched", async (_, contents, message) => {
    const folder = await temporaryFolder();
    const out = join(folder, "out");
    await mkdir(out);
    for (const [name, text] of Object.entries(contents)) await writeFile(join(out, name), text);
    await expect(write(out, "weights")).rejects.toMatchObject({
      code: "out_occupied",
      message: `${out} ${message}, which is not part of an artifact.`,
      hint: expect.stringContaining("--out"),
    });
    for (const [name, text] of Object.entries(contents)) expect(await readFile(join(out, name), "utf8")).toBe(text);
    expect(await readdir(folder)).toEqual(["out"]);
  });

  it("refuses to replace a file, and leaves it untouched", async () => {
    const folder = await temporaryFolder();
    const out = join(folder, "out");
    await writeFile(out, "precious");
    await expect(write(out, "weights")).rejects.toMatchObject({ code: "out_occupied", message: `${out} is a file.` });
    expect(await readFile(out, "utf8")).toBe("precious");
    expect(await readdir(folder)).toEqual(["out"]);
  });

  it("keeps only the older artifact when a file cannot be written", async () => {
    const folder = await temporaryFolder();
    const out = join(folder, "artifact");
    await write(out, "older");
    const files = smallFiles("newer");
    const unwritable = new Map([...files, ["no-such-folder/x", bytesOf("x")]]);
    const broken = { manifest: await smallManifest(files), measurements, files: unwritable };
    await expect(writeArtifact(out, broken)).rejects.toThrow("ENOENT");
    expect(await modelOf(out)).toBe("model of older");
    expect(await readdir(folder)).toEqual(["artifact"]);
  });

  it("restores the older artifact when the newer one cannot be moved to its place", async () => {
    const folder = await temporaryFolder();
    const out = join(folder, "artifact");
    await write(out, "older");
    const { rename } = fs;
    const failing = vi
      .spyOn(fs, "rename")
      .mockImplementationOnce(rename)
      .mockRejectedValueOnce(new Error("the disk is gone"));
    onTestFinished(() => {
      failing.mockRestore();
      syncBuiltinESMExports();
    });
    syncBuiltinESMExports();
    await expect(write(out, "newer")).rejects.toThrow("the disk is gone");
    expect(await modelOf(out)).toBe("model of older");
    expect(await readdir(folder)).toEqual(["artifact"]);
  });

  it("replaces a link to an artifact, and keeps the linked artifact", async () => {
    const folder = await temporaryFolder();
    await write(join(folder, "elsewhere"), "older");
    await symlink(join(folder, "elsewhere"), join(folder, "link"));
    await write(join(folder, "link"), "newer");
    expect(await modelOf(join(folder, "link"))).toBe("model of newer");
    expect(await modelOf(join(folder, "elsewhere"))).toBe("model of older");
  });
});

describe("writeMeasurements", () => {
  it("replaces the measurements and nothing else", async () => {
    const out = join(await temporaryFolder(), "artifact");
    await write(out, "weights");
    const before = await readdir(out);
    const { manifestBytes } = await openFolder(out);
    await writeMeasurements(out, {});
    expect(await openFolder(out)).toMatchObject({ manifestBytes, measurements: {} });
    expect(await modelOf(out)).toBe("model of weights");
    expect(await readdir(out)).toEqual(before);
  });
});
