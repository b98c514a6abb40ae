import { Graph } from "../../compile/graph/graph.ts";
import { encodeOnnx } from "../../compile/onnx/to-onnx.ts";
import { inSubprocess } from "../../compile/subprocess/run-in-subprocess.ts";
import type { Provider } from "../../runtime/engine/ort-node/index.ts";
import { onnxruntimeNode } from "../../runtime/engine/ort-node/onnxruntime-node.ts";

/** Maximum time for loading a provider's libraries, in ms. */
const DEADLINE_MS = 60_000;
/** Maximum characters of a provider's error message that are shown. */
const REASON = 200;

/**
 * Tries to load an execution provider of onnxruntime-node.
 *
 * @returns why it cannot be used; undefined if it can
 */
export async function providerFault(provider: Provider): Promise<string | undefined> {
  const ort = await onnxruntimeNode();
  const graph = new Graph("probe");
  graph.opsets.set("", 17);
  const x = graph.input("x");
  x.dtype = "float32";
  x.shape = [1];
  const value = graph.add("Neg", [x], { name: "negate" }).output;
  graph.outputs.push({ name: "y", value, declaration: undefined });
  try {
    const options = { executionProviders: [provider], logSeverityLevel: 4 } as const;
    await (await ort.InferenceSession.create(encodeOnnx(graph), options)).release();
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Leaves out the name of a C++ function at the beginning of the message.
    return (/Failed to [^\n]+/.exec(message)?.[0] ?? message.split("\n")[0])?.slice(0, REASON);
  }
}

/** Tries a provider in a subprocess, because native code can crash the process. */
export const tryProvider = inSubprocess("cli/doctor/try-providers", providerFault, {
  failure: "engine_failed",
  what: "The provider could not be loaded",
  deadlineMs: DEADLINE_MS,
});
