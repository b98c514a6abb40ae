import { readdir, readFile } from "node:fs/promises";

/** Finds a running child process of this one by a part of its command line. Reads /proc, so it works on Linux. */
export async function childProcess(part: string): Promise<string> {
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const [stat, command] = await Promise.all([textOf(`/proc/${pid}/stat`), textOf(`/proc/${pid}/cmdline`)]);
    // The name of the command is in brackets, and can contain blanks. The state and the parent follow.
    const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (Number(parent) === process.pid && command.includes(part)) return pid;
  }
  throw new Error(`There is no child process ${part}.`);
}

/** Returns the resident memory of a process in bytes. */
export async function residentBytes(pid: string): Promise<number> {
  const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(await textOf(`/proc/${pid}/status`)) ?? [];
  return 1024 * Number(kilobytes);
}

/** A process can end meanwhile. */
const textOf = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");
