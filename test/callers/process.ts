import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Flood, Flooded } from "./flood.ts";
import type { Steady } from "./steady.ts";
import type { Tally } from "./tally.ts";

/** The work of a process of callers. */
export type CallerJob = ({ readonly kind: "flood" } & Flood) | ({ readonly kind: "steady" } & Steady);

/** The result of a process of callers. `cpuMs`: the CPU time that it has used from its first request to its last. */
export type Called<T extends Tally = Tally> = T & { readonly cpuMs: number; readonly seconds: number };

/** Callers in a process of their own, so that they take no time from each other. */
export interface Callers<T extends Tally> {
  /** Resolves when the process has ended its work. */
  readonly called: Promise<Called<T>>;
  /** Ends the work. A steady caller still waits for its answers. */
  stop(): void;
}

export const startFlood = (flood: Flood): Callers<Flooded> => start<Flooded>({ kind: "flood", ...flood });
export const startSteady = (steady: Steady): Callers<Tally> => start<Tally>({ kind: "steady", ...steady });

function start<T extends Tally>(job: CallerJob): Callers<T> {
  const child = fork(join(import.meta.dirname, "child.ts"), { serialization: "advanced" });
  child.send(job);
  return { called: resultOf(child), stop: () => void (child.connected && child.send("stop")) };
}

async function resultOf<T extends Tally>(child: ChildProcess): Promise<Called<T>> {
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`The process of callers ended with ${code}.`);
  });
  const [result] = await Promise.race([once(child, "message") as Promise<[Called<T>]>, ended]);
  if (child.connected) child.disconnect();
  return result;
}
