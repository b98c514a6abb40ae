import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { PublisherJob } from "./publisher.ts";

const repository = join(import.meta.dirname, "../..");
const script = join(import.meta.dirname, "publisher.ts");

/** Starts a publisher. Resolves when it begins to publish. */
export async function startPublisher(job: PublisherJob, maxFileBytes?: number): Promise<ChildProcess> {
  const node = [process.execPath, script, JSON.stringify(job)];
  // `ulimit -f` counts blocks of 512 bytes in POSIX shells.
  const limited = ["-c", `ulimit -f ${Math.ceil((maxFileBytes ?? 0) / 512)}; exec "$@"`, "sh", ...node];
  const [command = "", ...args] = maxFileBytes === undefined ? node : ["sh", ...limited];
  const child = spawn(command, args, { cwd: repository, stdio: ["ignore", "pipe", "ignore"] });
  await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  return child;
}

/** Waits until a process has ended. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
