import { importError } from "../../../artifact/optional-package.ts";

/**
 * Imports onnxruntime-node, at the first call. It logs nothing: what it would log as an error, it also throws. Its telemetry is off,
 * unless the environment variable `ORT_DISABLE_TELEMETRY` says otherwise: it can upload data to Microsoft, and every process leaves
 * files in the system's temporary folder (`.ses`, `mat-debug-<pid>.log`).
 *
 * @throws BertEdgeError `package_missing`
 */
export async function onnxruntimeNode() {
  process.env.ORT_DISABLE_TELEMETRY ??= "1";
  try {
    const ort = await import("onnxruntime-node");
    ort.env.logLevel = LOG_LEVEL;
    return ort;
  } catch (error) {
    throw importError("onnxruntime-node", error);
  }
}

/** onnxruntime-node reads it when the process creates its first session. */
export const LOG_LEVEL = "fatal";
