import { execFileSync } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderWith } from "#test/fixtures/folder-with.ts";
import { modelPlace } from "../checkpoint/model-place.ts";
import { describeModel } from "../model/describe-model.ts";
import { modelKey } from "./content-key.ts";

const refused = (path: string, kind: string) =>
  expect.objectContaining({ code: "checkpoint_invalid", message: `${path} is ${kind}, not a file.` });

describe.skipIf(process.platform === "win32")("a model folder with what is no file", () => {
  it.each(["config.json", "modules.json", "model.safetensors", "1_Pooling/config.json", "notes"])(
    "is refused at once: a named pipe as %s",
    async (file) => {
      const folder = await folderWith({ "1_Pooling/README.md": "" });
      const path = join(folder, file);
      execFileSync("mkfifo", [path]);
      await expect(describeModel(folder)).rejects.toEqual(refused(path, "a named pipe"));
      await expect(modelKey(folder)).rejects.toEqual(refused(path, "a named pipe"));
    },
  );

  it("is refused with a link to a device, and beside an ONNX file that is named", async () => {
    const folder = await folderWith({ "onnx/model.onnx": "" });
    await symlink("/dev/zero", join(folder, "config.json"));
    const isDevice = refused(join(folder, "config.json"), "a device");
    expect(() => modelPlace(join(folder, "onnx/model.onnx"))).toThrow(isDevice);
  });

  it("is refused when it is hashed, if a pipe is deeper", async () => {
    const folder = await folderWith({ "config.json": {} });
    await mkdir(join(folder, "a/b/c"), { recursive: true });
    execFileSync("mkfifo", [join(folder, "a/b/c/d")]);
    await expect(modelKey(folder)).rejects.toEqual(refused(join(folder, "a/b/c/d"), "a named pipe"));
  });

  it("is taken with links to files and folders", async () => {
    const folder = await folderWith({ "config.json": {}, "blobs/a": "x" });
    await symlink("blobs/a", join(folder, "tokenizer.json"));
    await symlink("blobs", join(folder, "more"));
    expect(modelPlace(folder).root).toBe(folder);
  });
});
