import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { hubModel, hubPageOf } from "./hub-model.ts";

const name = "sentence-transformers/all-MiniLM-L6-v2";
const page = `https://huggingface.co/${name}`;

describe("hubModel", () => {
  it.each([
    [name, "main", undefined],
    [`${name}@v1.0`, "v1.0", undefined],
    [`${name}@refs/pr/21`, "refs/pr/21", undefined],
    [page, "main", undefined],
    [`${page}/`, "main", undefined],
    [`${page}/tree/v1.0`, "v1.0", undefined],
    [`${page}/tree/refs%2Fpr%2F21`, "refs/pr/21", undefined],
    [`${page}/tree/v1.0/1_Pooling`, "v1.0", undefined],
    [`${page}/blob/main/onnx/model_O2.onnx`, "main", "onnx/model_O2.onnx"],
    [`${page}/resolve/main/onnx/model_O2.onnx?download=true`, "main", "onnx/model_O2.onnx"],
    [`https://hf.co/${name}`, "main", undefined],
  ])("recognizes %s", (text, revision, file) => {
    expect(hubModel(text)).toEqual({ name, revision, file });
  });

  it.each([
    `${name}@../../../../tmp/zz`,
    `${name}@..`,
    `${name}@a/./b`,
    `${name}@/etc`,
    `${name}@a\\..\\b`,
    `${name}@C:x`,
    `${name}@..%2F..%2Fzz`,
    `${page}/tree/..%2F..%2Fzz`,
    `${page}/blob/main/../../x.onnx`,
    `${page}/blob/main/..%2F..%2Fx.onnx`,
  ])("refuses %s, which leads out of a folder", (text) => {
    expect(() => hubModel(text)).toThrow(expect.objectContaining({ code: "hub_model_missing" }));
  });

  it.each(["model", "./nowhere/model", "../nowhere/model", "/nowhere/model", "nowhere/a/b", "https://example.com/a/b"])(
    "takes %s for a path",
    (path) => {
      expect(hubModel(path)).toBeUndefined();
    },
  );

  it("takes a misspelt path in an existing folder for a path", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "models"));
    const cwd = vi.spyOn(process, "cwd").mockReturnValue(folder);
    expect(hubModel("models/defalt")).toBeUndefined();
    expect(hubModel("models/defalt@refs/pr/1")).toBeUndefined();
    expect(hubModel("elsewhere/defalt")).toBeDefined();
    cwd.mockRestore();
  });
});

describe("hubPageOf", () => {
  it("returns the page of the model that a path may mean", () => {
    expect(hubPageOf(`${name}@v1`)).toBe(page);
    expect(hubPageOf("./org/model")).toBeUndefined();
  });
});
