import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { LoadJob, LoadRun } from "./job.ts";

/** A process that sends requests, so that it takes no time from the process that it measures. */
export interface Generator {
  run(job: LoadJob): Promise<LoadRun>;
  stop(): void;
}

export function startGenerator(): Generator {
  const child = fork(join(import.meta.dirname, "child.ts"), { serialization: "advanced" });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`The load generator ended with ${code}.`);
  });
  ended.catch(() => {});
  return {
    async run(job) {
      const answered = once(child, "message") as Promise<[LoadRun]>;
      child.send(job);
      const [run] = await Promise.race([answered, ended]);
      return run;
    },
    stop() {
      if (child.connected) child.disconnect();
    },
  };
}
