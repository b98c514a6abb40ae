import { readdirSync, readFileSync } from "node:fs";

const children = (): number[] =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === process.pid);

function parentOf(pid: number): number | undefined {
  try {
    // The name of the program is in parentheses, and can contain spaces.
    return Number(/.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1]);
  } catch {
    // The process has ended since the folder was listed.
    return undefined;
  }
}

/** Runs `start`, and also returns the id of the process that it started. Needs Linux. */
export async function withProcess<T>(start: () => Promise<T>): Promise<{ started: T; pid: number }> {
  const before = new Set(children());
  const started = await start();
  const [pid, ...others] = children().filter((child) => !before.has(child));
  if (pid === undefined || others.length > 0) throw new Error(`${others.length + 1} processes were started, not one.`);
  return { started, pid };
}

/** Returns the CPU time that all threads of a process have used, in ms. */
export function cpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) => {
    const [onCpu] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
    return Number(onCpu);
  });
  return nanoseconds.reduce((sum, time) => sum + time, 0) / 1e6;
}
