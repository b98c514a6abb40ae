import { BertEdgeError } from "../../artifact/error.ts";
import { runTool, type ToolOutput } from "./run-tool.ts";

/** Timeout in ms of a call that reads something or makes a small change. */
const CALL_MS = 120_000;

export interface ProjectToolOptions {
  readonly name: string;
  /** JavaScript file of the tool, or an option of Node.js such as `--run`. */
  readonly script: string;
  /** The project's folder. */
  readonly root: string;
  /** Values that no message may contain. */
  readonly secrets: readonly string[];
  /** Returns environment variables of a call, in addition to those of this process. */
  env(): Readonly<Record<string, string>>;
  /** Default: starts a process. */
  readonly runTool?: typeof runTool | undefined;
}

interface CallOptions {
  readonly stdin?: string;
  readonly timeoutMs?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A command-line tool of the project that reads and changes the user's cloud account. */
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
  // API_KEYS can hold several keys. A message can contain a single one, so each key is hidden by itself too.
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
