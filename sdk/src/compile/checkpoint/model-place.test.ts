import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { modelPlace } from "./model-place.ts";

describe("modelPlace", () => {
  it.each([
    ["beside an export of Optimum", ["config.json", "tokenizer.json"], "model.onnx", ""],
    ["above the Hub's folder onnx/", ["config.json", "tokenizer.json"], "onnx/model.onnx", ""],
    [
      "with modules.json, above a folder that has a tokenizer too",
      ["config.json", "tokenizer.json", "modules.json", "onnx/config.json", "onnx/tokenizer.json"],
      "onnx/model.onnx",
      "",
    ],
    ["that is nearer", ["config.json", "tokenizer.json", "a/config.json", "a/tokenizer.json"], "a/model.onnx", "a"],
    ["with a tokenizer", ["config.json", "tokenizer.json", "onnx/config.json"], "onnx/model.onnx", ""],
    ["beside a file without config.json", [], "a/model.onnx", "a"],
  ])("finds the folder %s", async (_, files, onnx, folder) => {
    const root = await temporaryFolder();
    for (const file of files) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), "{}");
    }
    expect(modelPlace(join(root, onnx))).toEqual({ folder: join(root, folder), onnx: join(root, onnx) });
  });

  it("leaves a folder as it is", () => {
    expect(modelPlace("./model")).toEqual({ folder: "./model", onnx: undefined });
  });
});
