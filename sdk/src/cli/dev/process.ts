import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { BertEdgeError } from "../../artifact/error.ts";

const STOP_MS = 5_000;
const POLL_MS = 100;

/** `node --watch` prints this when the watched process has exited. The watching process itself keeps running. */
const WATCHED_EXIT = /(Failed|Completed) running /;

/** A process together with all processes that it starts. */
export interface Service {
  readonly name: string;
  /** Resolves when the process has ended, by itself or because it was stopped. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  name: string;
  /** A JavaScript or TypeScript file. It runs with the same Node.js as this process. */
  script: string;
  args?: readonly string[];
  cwd: string;
  env?: Readonly<Record<string, string>>;
  /** The service counts as started when `url` answers. If `status` is set, the answer must have this HTTP status. */
  ready: { url: string; status?: number; withinMs: number };
  /** Whether to restart the process when a file that it has imported changes. */
  watch?: boolean;
  /** Called with each piece of the service's output. */
  onOutput?: (text: string) => void;
}

/**
 * Starts a process and waits until `ready.url` answers.
 *
 * @throws BertEdgeError `service_failed` when the process exits, or does not answer in time. The message contains the
 *   last output of the process.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { name, script, args = [], cwd, env = {}, ready, watch = false, onOutput = () => {} } = options;
  const child = spawn(process.execPath, [...nodeOptions(script, watch), script, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    // Starts a process group, so that stopping wrangler also stops the processes that wrangler starts (workerd).
    detached: true,
  });
  const ended = once(child, "exit").then(() => {});
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-4_000);
      onOutput(text);
    });
  }
  // Ends the whole group when this process ends. A SIGKILL of this process leaves the group running.
  const endGroup = () => signalGroup(child, "SIGKILL");
  process.once("exit", endGroup);
  const stop = async () => {
    await stopGroup(child);
    process.off("exit", endGroup);
  };
  const giveUpAt = performance.now() + ready.withinMs;
  while (!(await answers(ready.url, ready.status))) {
    const exited = hasEnded(child) || (watch && WATCHED_EXIT.test(output));
    if (exited || performance.now() > giveUpAt) {
      await stop();
      throw new BertEdgeError(
        "service_failed",
        `${name} ${exited ? "ended" : "did not answer"} while starting:\n${output}`,
        { hint: "Correct the error in the output above, then run the command again." },
      );
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return { name, ended, stop };
}

const nodeOptions = (script: string, watch: boolean): string[] => [
  ...(watch ? ["--watch", "--watch-preserve-output"] : []),
  // Node before 22.18 runs TypeScript only with this option.
  ...(script.endsWith(".ts") && !process.features.typescript ? ["--experimental-strip-types"] : []),
];

async function answers(url: string, status: number | undefined): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
    return status === undefined || response.status === status;
  } catch {
    return false;
  }
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

async function stopGroup(child: ChildProcess): Promise<void> {
  if (!hasEnded(child)) {
    const exit = once(child, "exit");
    signalGroup(child, "SIGTERM");
    const timer = setTimeout(() => signalGroup(child, "SIGKILL"), STOP_MS);
    await exit;
    clearTimeout(timer);
  }
  // The child has ended, but other processes of its group may still run.
  signalGroup(child, "SIGKILL");
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Returns `preferred` if the port is free, otherwise any free port. */
export async function freePort(preferred = 0): Promise<number> {
  const server = createServer().listen(preferred, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if (preferred !== 0) return freePort();
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
