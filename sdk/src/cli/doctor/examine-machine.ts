import { addCommand } from "../../artifact/add-command.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { type OptionalPackage, purposes } from "../../artifact/optional-package.ts";
import type { Provider } from "../../runtime/engine/ort-node/index.ts";
import { hasRelaxedSimd } from "../../runtime/engine/wasm/load/relaxed-simd.ts";
import { type Finding, findingsOf } from "../finding.ts";
import { commandsWithout, packageVersion, wranglerFor } from "../wrangler/installed.ts";

const providers: readonly Provider[] = ["cpu", "cuda", "tensorrt", "webgpu"];

export interface MachineFacts {
  /** Version of Node.js, such as `24.1.0`. */
  readonly node: string;
  readonly hasRelaxedSimd: boolean;
  /** Returns why a provider of onnxruntime-node cannot be used; undefined if it can. */
  tryProvider(provider: Provider): Promise<string | undefined>;
}

/** Returns the facts of this machine. */
export const thisMachine = async (): Promise<MachineFacts> => ({
  node: process.versions.node,
  hasRelaxedSimd: hasRelaxedSimd(),
  tryProvider: (await import("./try-providers.ts")).tryProvider,
});

/** Examines what every command needs: Node, WebAssembly, optional packages, and providers of onnxruntime-node. */
export async function examineMachine(root: string, machine: MachineFacts): Promise<Finding[]> {
  const packages = Object.entries(purposes).map(([name, purpose]) =>
    examinePackage(root, name as OptionalPackage, purpose),
  );
  return [
    findingsOf("node", machine.node).ok("It runs every command."),
    machine.hasRelaxedSimd
      ? findingsOf("simd", "this machine").ok("WebAssembly has relaxed SIMD, as in Workers.")
      : findingsOf("simd", "this machine").note(
          "WebAssembly has no relaxed SIMD here. The results are the same, but slower than in Workers.",
        ),
    ...packages,
    ...(await examineProviders(root, machine)),
  ];
}

function examinePackage(root: string, name: OptionalPackage, purpose: string): Finding {
  const { ok, note } = findingsOf("package", name);
  const version = versionOf(root, name);
  const commands = name === "wrangler" && version !== undefined ? commandsWithout(version) : [];
  if (commands.length > 0) {
    const needs = commands.map((command) => `\`bert-edge ${command}\` needs ${wranglerFor[command]} or newer.`);
    return { ...note(`Version ${version} is installed. ${needs.join(" ")}`), fix: addCommand("wrangler@latest") };
  }
  if (version !== undefined) return ok(`Version ${version} is installed.`);
  return { ...note(`It is not installed. bert-edge needs it ${purpose}.`), fix: addCommand(name) };
}

function versionOf(root: string, name: OptionalPackage): string | undefined {
  try {
    return packageVersion(root, name);
  } catch (error) {
    if (error instanceof BertEdgeError && error.code === "package_missing") return undefined;
    throw error;
  }
}

async function examineProviders(root: string, { tryProvider }: MachineFacts): Promise<Finding[]> {
  if (versionOf(root, "onnxruntime-node") === undefined) return [];
  const found: Finding[] = [];
  for (const provider of providers) {
    const { ok, note, broken } = findingsOf("provider", provider);
    const fault = await tryProvider(provider).catch((error: Error) => error.message);
    if (fault === undefined) found.push(ok("onnxruntime-node can use it."));
    else if (provider === "cpu") found.push(broken(fault, `Install it again: ${addCommand("onnxruntime-node")}`));
    else found.push(note(`Not available here: ${fault}`));
  }
  return found;
}
