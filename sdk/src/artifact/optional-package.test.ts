import { describe, expect, it } from "vitest";
import { importError } from "./optional-package.ts";

const failing = (message: string, code?: string) =>
  importError("onnxruntime-web", Object.assign(new Error(message), { code }));

describe("importError", () => {
  it.each([
    ["Cannot find package 'onnxruntime-web' imported from /app/index.js", "ERR_MODULE_NOT_FOUND"],
    [`Cannot find package "onnxruntime-web/wasm" from "/app/index.js"`, "ERR_MODULE_NOT_FOUND"],
    ["Cannot find module 'onnxruntime-web/wasm'\nRequire stack:\n- /app/bundle.cjs", "MODULE_NOT_FOUND"],
  ])("reports that the package is missing: %s", (message, code) => {
    expect(failing(message, code)).toMatchObject({
      code: "package_missing",
      message: expect.stringContaining("onnxruntime-web is not installed"),
      hint: "Add it with: npm install onnxruntime-web",
    });
  });

  it.each([
    ["Cannot find package 'onnxruntime-web-helper' imported from /app/index.js", "ERR_MODULE_NOT_FOUND"],
    ["Cannot find package 'long' imported from /app/node_modules/onnxruntime-web/index.js", "ERR_MODULE_NOT_FOUND"],
    ["'onnxruntime-web' is broken", undefined],
  ])("passes on every other error: %s", (message, code) => {
    expect(failing(message, code)).toMatchObject({ message, code });
  });
});
