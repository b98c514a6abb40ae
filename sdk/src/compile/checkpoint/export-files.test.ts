import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import type { ErrorCode } from "../../artifact/error-codes.ts";
import { exportFiles, readFirst } from "./export-files.ts";

describe("exportFiles", () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ["nothing", ["config.json"], []],
    ["an export", ["model.onnx"], ["model.onnx"]],
    ["an export and weights", ["model.onnx", "model.safetensors"], []],
    ["an export and shards", ["model.onnx", "model.safetensors.index.json"], []],
    [
      "several exports",
      ["onnx/model_fp16.onnx", "onnx/model.onnx", "onnx/model_O2.onnx", "onnx/model.onnx_data"],
      ["onnx/model.onnx", "onnx/model_O2.onnx", "onnx/model_fp16.onnx"],
    ],
    ["exports of other names", ["onnx/model_O4.onnx", "a.onnx"], ["a.onnx", "onnx/model_O4.onnx"]],
    ["exports and pickled weights", ["pytorch_model.bin", "model.onnx", "a.onnx"], []],
    ["a folder that has the name of a file", ["model.onnx/notes.txt"], []],
  ])("lists the ONNX files to try in a folder with %s", async (_, files, found) => {
    const folder = await temporaryFolder();
    for (const file of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), "");
    }
    expect((await exportFiles(folder)).map((path) => relative(folder, path))).toEqual(found);
  });
});

describe("readFirst", () => {
  const faults: Readonly<Record<string, ErrorCode>> = {
    half: "export_unsupported",
    quantized: "export_unsupported",
    damaged: "onnx_invalid",
  };
  const read = async (path: string) => {
    const code = faults[path];
    if (code) throw new BertEdgeError(code, `${path} is at fault.`, { hint: `Export ${path}.` });
    return path.toUpperCase();
  };

  it("passes over files that cannot be prepared", async () => {
    expect(await readFirst("folder", ["half", "good", "quantized"], read)).toMatchObject({
      ...{ path: "good", read: "GOOD", untried: ["quantized"] },
      unfit: [{ path: "half", error: { message: "half is at fault." } }],
    });
  });

  it("names each file with its reason if none can be prepared", async () => {
    await expect(readFirst("folder", ["half"], read)).rejects.toMatchObject({ message: "half is at fault." });
    await expect(readFirst("folder", ["half", "quantized"], read)).rejects.toMatchObject({
      code: "export_unsupported",
      message: "folder has no ONNX file that can be prepared:\n    half is at fault.\n    quantized is at fault.",
      hint: "Export half.",
    });
  });

  it("does not pass over a damaged file", async () => {
    await expect(readFirst("folder", ["damaged", "good"], read)).rejects.toMatchObject({ code: "onnx_invalid" });
  });
});
