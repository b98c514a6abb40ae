import { addCommand } from "./add-command.ts";
import { BertEdgeError } from "./error.ts";

/** The packages that users add only if they need them, and what bert-edge needs them for. */
export const purposes = {
  "@aws-sdk/client-s3": "to publish to a bucket",
  "@huggingface/hub": "to find models on the Hugging Face Hub",
  "onnxruntime-node": "to prepare models and to run them natively",
  "onnxruntime-web": "to run models that its own engine cannot run",
  osls: "to deploy a region to AWS",
  wrangler: "to run a Worker on this machine",
} as const;

export type OptionalPackage = keyof typeof purposes;

/**
 * Imports an optional package. `load` contains the `import()` itself, so that bundlers and TypeScript see its path.
 *
 *     const ort = await optionalPackage("onnxruntime-node", () => import("onnxruntime-node"));
 *
 * @throws BertEdgeError `package_missing`
 */
export async function optionalPackage<Module>(name: OptionalPackage, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    throw isMissing(name, error) ? packageMissing(name) : error;
  }
}

export const packageMissing = (name: OptionalPackage): BertEdgeError =>
  new BertEdgeError("package_missing", `The package ${name} is not installed. bert-edge needs it ${purposes[name]}.`, {
    hint: `Add it with: ${addCommand(name)}`,
  });

/** Whether an import failed because this package is missing, and not because one of its own dependencies is. */
function isMissing(name: string, error: unknown): boolean {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return code === "ERR_MODULE_NOT_FOUND" && new RegExp(`['"]${name}['"/]`).test(String(message));
}
