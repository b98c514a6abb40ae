import { importError } from "../../../artifact/optional-package.ts";

/**
 * Imports onnxruntime-node, at the first call. Turns off its log, because onnxruntime also throws every error that it logs. Turns off
 * its telemetry unless the environment variable `ORT_DISABLE_TELEMETRY` is set. Telemetry can upload data to Microsoft, and leaves files
 * of every process in the system's temporary folder (`.ses`, `mat-debug-<pid>.log`).
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

/** Log level of onnxruntime-node, which reads it when the process creates its first session. */
export const LOG_LEVEL = "fatal";
