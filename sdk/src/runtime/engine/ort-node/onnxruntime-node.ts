import { optionalPackage } from "../../../artifact/optional-package.ts";

/**
 * Imports onnxruntime-node, at the first call. Its telemetry is off, unless the environment variable
 * `ORT_DISABLE_TELEMETRY` says otherwise: it can upload data to Microsoft, and every process leaves files in the system's
 * temporary folder (`.ses`, `mat-debug-<pid>.log`).
 *
 * @throws BertEdgeError `package_missing`
 */
export function onnxruntimeNode() {
  process.env.ORT_DISABLE_TELEMETRY ??= "1";
  return optionalPackage("onnxruntime-node", () => import("onnxruntime-node"));
}
