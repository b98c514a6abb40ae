import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Time in ms between SIGTERM and SIGKILL, in which a process can end by itself. */
const STOP_MS = 5_000;

/** A process together with all processes that it starts. */
export interface Service {
  readonly name: string;
  /** Resolves when the process has ended, by itself or because it was stopped. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

export interface LaunchOptions {
  /** A JavaScript or TypeScript file. It runs with the same Node.js as this process. */
  readonly script: string;
  readonly args?: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether to restart the process when a file that it has imported changes. */
  readonly watch?: boolean;
}

/** A process that was started, but may not answer yet. */
interface Launched {
  readonly ended: Promise<void>;
  hasEnded(): boolean;
  stop(withinMs?: number): Promise<void>;
}

/** Starts a process. @param onLine receives each line of its output */
export function launch(options: LaunchOptions, onLine: (line: string) => void): Launched {
  const { script, args = [], cwd, env = {}, watch = false } = options;
  const child = spawn(process.execPath, [...nodeOptions(script, watch), script, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    // Starts a process group, so that stopping wrangler also stops the processes that wrangler starts (workerd).
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", onLine);
  // Ends the whole group when this process ends. A SIGKILL of this process leaves the group running.
  const endGroup = () => signalGroup(child, "SIGKILL");
  process.once("exit", endGroup);
  return {
    ended: once(child, "exit").then(() => {}),
    hasEnded: () => hasEnded(child),
    async stop(withinMs = STOP_MS) {
      await stopGroup(child, withinMs);
      process.off("exit", endGroup);
    },
  };
}

const nodeOptions = (script: string, watch: boolean): string[] => [
  ...(watch ? ["--watch", "--watch-preserve-output"] : []),
  // Node before 22.18 runs TypeScript only with this option.
  ...(script.endsWith(".ts") && !process.features.typescript ? ["--experimental-strip-types"] : []),
];

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

async function stopGroup(child: ChildProcess, withinMs: number): Promise<void> {
  if (!hasEnded(child)) {
    const exit = once(child, "exit");
    signalGroup(child, "SIGTERM");
    const timer = setTimeout(() => signalGroup(child, "SIGKILL"), withinMs);
    await exit;
    clearTimeout(timer);
  }
  // The child has ended, but other processes of its group may still run.
  signalGroup(child, "SIGKILL");
}

/** Signals a process that was started with `detached`, and all processes that it has started. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
