import { importError } from "../../../artifact/optional-package.ts";

/**
 * Imports onnxruntime-web, at the first call.
 *
 * @throws BertEdgeError `package_missing`
 */
export async function onnxruntimeWeb() {
  try {
    return await import("onnxruntime-web/wasm");
  } catch (error) {
    throw importError("onnxruntime-web", error);
  }
}
