import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { BertEdgeError } from "../../artifact/error.ts";
import { signalGroup } from "../process-group.ts";

/** A tool that runs with the same Node.js as this process. `script` is a JavaScript file, or an option of Node.js such as `--run`. */
export interface Tool {
  readonly name: string;
  readonly script: string;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface ToolOutput {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface ToolCall {
  /** Text for the process's stdin. Secrets go here: all users of a machine can read arguments. */
  readonly stdin?: string;
  readonly timeoutMs: number;
}

/**
 * Runs a tool to its end.
 *
 * @throws BertEdgeError `deploy_failed` if it does not end in time
 */
export async function runTool(
  { name, script, cwd, env }: Tool,
  args: readonly string[],
  { stdin = "", timeoutMs }: ToolCall,
): Promise<ToolOutput> {
  const child = spawn(process.execPath, [script, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: "pipe",
    // Starts a process group, so that stopping wrangler also stops the processes that it starts.
    detached: true,
  });
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    signalGroup(child, "SIGKILL");
    reject(
      new BertEdgeError("deploy_failed", `${name} ${args.join(" ")} did not end within ${timeoutMs / 1000} s.`, {
        hint: "Check the network, then run the command again: it continues with what is left.",
      }),
    );
  }, timeoutMs);
  const exited = () => signalGroup(child, "SIGKILL");
  process.once("exit", exited);
  // The tool may end without reading its input.
  child.stdin.on("error", () => {});
  child.stdin.end(stdin);
  const closed = once(child, "close") as Promise<[number | null]>;
  const ended = Promise.all([text(child.stdout), text(child.stderr), closed]);
  try {
    const [stdout, stderr, [code]] = await Promise.race([ended, late]);
    return { code, stdout, stderr };
  } finally {
    clearTimeout(timer);
    process.off("exit", exited);
  }
}
