import { describe, expect, it } from "vitest";
import { optionalPackage } from "./optional-package.ts";

const failing = (message: string, code?: string) =>
  optionalPackage("onnxruntime-web", () => Promise.reject(Object.assign(new Error(message), { code })));

describe("optionalPackage", () => {
  it("returns the imported module", async () => {
    expect(await optionalPackage("onnxruntime-node", async () => ({ answer: 42 }))).toEqual({ answer: 42 });
  });

  it.each([
    "Cannot find package 'onnxruntime-web' imported from /app/index.js",
    `Cannot find package "onnxruntime-web/wasm" from "/app/index.js"`,
  ])("reports that the package is missing: %s", async (message) => {
    await expect(failing(message, "ERR_MODULE_NOT_FOUND")).rejects.toMatchObject({
      code: "package_missing",
      message: expect.stringContaining("onnxruntime-web is not installed"),
      hint: "Add it with: npm install onnxruntime-web",
    });
  });

  it.each([
    ["Cannot find package 'onnxruntime-web-helper' imported from /app/index.js", "ERR_MODULE_NOT_FOUND"],
    ["Cannot find package 'long' imported from /app/node_modules/onnxruntime-web/index.js", "ERR_MODULE_NOT_FOUND"],
    ["'onnxruntime-web' is broken", undefined],
  ])("passes on every other error: %s", async (message, code) => {
    await expect(failing(message, code)).rejects.toThrow(message);
  });
});
