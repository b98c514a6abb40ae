import { once } from "node:events";
import fs, { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { bytesOf, smallFiles, textOf, writeSmallFolder } from "#test/fixtures/small-artifact.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import { writeArtifact, writeMeasurements } from "./write-artifact.ts";

/** Writes a small artifact whose model file contains `content`. */
const write = (out: string, content: string): Promise<void> => writeWith(out, smallFiles(content));

async function writeWith(out: string, files: Map<string, Uint8Array<ArrayBuffer>>): Promise<void> {
  const folder = await temporaryFolder();
  await writeSmallFolder(folder, files);
  await writeArtifact(out, folder);
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
    await writeWith(out, older);
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

  it("keeps only the older artifact when a file cannot be copied", async () => {
    const folder = await temporaryFolder();
    const out = join(folder, "artifact");
    await write(out, "older");
    const newer = join(await temporaryFolder(), "newer");
    await writeSmallFolder(newer);
    const socket = createServer().listen(join(newer, "model.fp16.onnx"));
    onTestFinished(() => void socket.close());
    await once(socket, "listening");
    await expect(writeArtifact(out, newer)).rejects.toThrow("socket");
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
