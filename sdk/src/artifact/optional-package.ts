import { addCommand } from "./add-command.ts";
import { BertEdgeError } from "./error.ts";

/** The packages that users add only if they need them, and what bert-edge needs them for. */
export const purposes = {
  "@aws-sdk/client-s3": "to publish to a bucket",
  "@huggingface/hub": "to find models on the Hugging Face Hub",
  hono: "to serve models over HTTP",
  "onnxruntime-node": "to prepare models and to run them natively",
  "onnxruntime-web": "to run models that its own engine cannot run",
  osls: "to deploy a region to AWS",
  wrangler: "to run a Worker on this machine",
} as const;

export type OptionalPackage = keyof typeof purposes;

/**
 * Returns the error to throw when the `import()` of an optional package has failed: `package_missing`, or the import's own error. Write
 * the `import()` with its path into a `try` block. Bundlers then include the package, but do not fail if it is not installed.
 *
 *     try {
 *       return await import("onnxruntime-node");
 *     } catch (error) {
 *       throw importError("onnxruntime-node", error);
 *     }
 */
export const importError = (name: OptionalPackage, error: unknown): unknown =>
  isMissing(name, error) ? packageMissing(name) : error;

export const packageMissing = (name: OptionalPackage): BertEdgeError =>
  new BertEdgeError("package_missing", `The package ${name} is not installed. bert-edge needs it ${purposes[name]}.`, {
    hint: `Add it with: ${addCommand(name)}`,
  });

/** Whether an import failed because this package is missing, and not because one of its own dependencies is. */
function isMissing(name: string, error: unknown): boolean {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return /MODULE_NOT_FOUND$/.test(String(code)) && new RegExp(`['"]${name}['"/]`).test(String(message));
}
