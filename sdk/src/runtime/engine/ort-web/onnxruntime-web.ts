import { optionalPackage } from "../../../artifact/optional-package.ts";

/**
 * Imports onnxruntime-web, at the first call.
 *
 * @throws BertEdgeError `package_missing`
 */
export const onnxruntimeWeb = () => optionalPackage("onnxruntime-web", () => import("onnxruntime-web/wasm"));
