import { BertEdgeError } from "../../artifact/error.ts";
import { runTool, type ToolOutput } from "./run-tool.ts";

/** Timeout in ms of a question or a small change. */
const CALL_MS = 120_000;

export interface ProjectToolOptions {
  readonly name: string;
  /** JavaScript file of the tool, or an option of Node.js. */
  readonly script: string;
  /** The project's folder. */
  readonly root: string;
  /** Values that no message may contain. */
  readonly secrets: readonly string[];
  /** Returns the variables of a call, beside those of this process. */
  env(): Readonly<Record<string, string>>;
  /** Default: starts a process. */
  readonly runTool?: typeof runTool | undefined;
}

interface CallOptions {
  readonly stdin?: string;
  readonly timeoutMs?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A tool of the project that asks and changes things in somebody's account. */
export interface ProjectTool {
  run(args: readonly string[], options?: CallOptions): Promise<ToolOutput>;
  /** @throws BertEdgeError `deploy_failed` if the tool fails */
  done(args: readonly string[], options?: CallOptions): Promise<ToolOutput>;
  /** Makes the error of a call, without secrets. */
  failure(args: readonly string[], output: ToolOutput, cause?: unknown): BertEdgeError;
}

export function projectTool({
  name,
  script,
  root,
  secrets,
  env,
  runTool: start = runTool,
}: ProjectToolOptions): ProjectTool {
  // API_KEYS has several keys, and a message can have one of them.
  const hidden = secrets.flatMap((secret) => [secret, ...secret.split(",")]).filter((secret) => secret.trim() !== "");
  const masked = (output: string) => hidden.reduce((text, secret) => text.replaceAll(secret, "…"), output);

  const tool: ProjectTool = {
    run: (args, { stdin, timeoutMs = CALL_MS, env: more = {} } = {}) =>
      start({ name, script, cwd: root, env: { ...env(), ...more } }, args, {
        timeoutMs,
        ...(stdin !== undefined && { stdin }),
      }),
    async done(args, options) {
      const output = await tool.run(args, options);
      if (output.code !== 0) throw tool.failure(args, output);
      return output;
    },
    failure: (args, { code, stdout, stderr }, cause) =>
      new BertEdgeError(
        "deploy_failed",
        `${name} ${args.join(" ")} ended with ${code}:\n${masked(`${stdout}${stderr}`).trim().slice(-2_000)}`,
        {
          hint: "Correct the error in the output above, then run the command again: it continues with what is left.",
          cause,
        },
      ),
  };
  return tool;
}
