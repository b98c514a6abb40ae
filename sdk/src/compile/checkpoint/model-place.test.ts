import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { folderWith } from "#test/fixtures/folder-with.ts";
import { modelPlace } from "./model-place.ts";

/** Makes a folder with these files. All are empty objects, except those that have a content. */
const withFiles = (files: readonly string[], contents: Readonly<Record<string, unknown>> = {}) =>
  folderWith({ ...Object.fromEntries(files.map((file) => [file, {}])), ...contents });

const transformerIn = (path: string) => [{ path, type: "sentence_transformers.models.Transformer" }];

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
  ])("finds the folder %s", async (_, files, onnx, place) => {
    const parent = await withFiles(files);
    const root = join(parent, place);
    expect(modelPlace(join(parent, onnx))).toEqual({ root, folder: root, onnx: join(parent, onnx) });
  });

  it("minds no socket in the folder above a model, such as /tmp", async () => {
    const parent = await withFiles(["model/config.json", "agent/config.json"]);
    const server = createServer().listen(join(parent, "agent/socket"));
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const folder = join(parent, "model");
    expect(modelPlace(join(folder, "model.onnx"))).toMatchObject({ folder });
    expect(() => modelPlace(parent)).toThrow("is a socket, not a file");
  });

  it("leaves a folder as it is", () => {
    expect(modelPlace("./model")).toEqual({ root: "./model", folder: "./model", onnx: undefined });
  });

  it("takes a folder whose name ends with .onnx for a folder", async () => {
    const root = join(await withFiles(["model.onnx/config.json"]), "model.onnx");
    expect(modelPlace(root)).toEqual({ root, folder: root, onnx: undefined });
  });

  it.each([
    ["0_Transformer", "0_Transformer"],
    ["0_Transformer/", "0_Transformer"],
    ["./", ""],
    [".", ""],
    ["./a//b", "a/b"],
    ["../model", ""],
    ["/", ""],
    ["a/../..", ""],
  ])("finds the Transformer module with the path %j", async (path, place) => {
    const root = await withFiles([], { "modules.json": transformerIn(path) });
    expect(modelPlace(root)).toEqual({ root, folder: join(root, place), onnx: undefined });
  });

  it("finds the Transformer module of an ONNX file's folder", async () => {
    const root = await withFiles(["0_Transformer/config.json"], { "modules.json": transformerIn("0_Transformer") });
    const onnx = join(root, "onnx/model.onnx");
    expect(modelPlace(onnx)).toEqual({ root, folder: join(root, "0_Transformer"), onnx });
  });

  it.each([["{"], [{ path: "a" }], [[{ path: 1, type: 2 }]], [[{ path: "a", type: "x.Pooling" }]]])(
    "leaves a modules.json with %j to the reader of modules",
    async (modules) => {
      const root = await withFiles([], { "modules.json": modules });
      expect(modelPlace(root).folder).toBe(root);
    },
  );
});
