import { fork } from "node:child_process";

/** What became of a damaged model. */
export interface Outcome {
  readonly seed: number;
  readonly how: readonly string[];
  /** "accepted", the code of a refusal, "fault: …", "crash: …" or "hang". */
  readonly outcome: string;
}

/** A hundred times what any of them takes. */
const DEADLINE_MS = 20_000;

/** After so many there is enough to look at, and every hang takes its time. */
const MAX_DEATHS = 5;

interface Message {
  readonly seed: number;
  readonly how?: readonly string[];
  readonly outcome?: string;
}

/** Takes damaged models of the seeds from `first` up to `last` through the optimizer, in processes that may die of it. */
export async function fuzz(folder: string, first: number, last: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let deaths = 0; first + outcomes.length < last && deaths < MAX_DEATHS; deaths++) {
    outcomes.push(...(await runUntilDeath(folder, first + outcomes.length, last)));
  }
  return outcomes;
}

/** @returns the outcomes of all seeds up to the one that ended the process */
function runUntilDeath(folder: string, first: number, last: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let current: Message = { seed: first, how: [] };
  let death = "crash";
  const child = fork(new URL("./worker.ts", import.meta.url), [folder, String(first), String(last)], {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const deadline = () =>
    setTimeout(() => {
      death = "hang";
      child.kill("SIGKILL");
    }, DEADLINE_MS);
  let timer = deadline();
  child.on("message", (message: Message) => {
    clearTimeout(timer);
    timer = deadline();
    if (message.outcome === undefined) current = message;
    else outcomes.push({ seed: message.seed, how: current.how ?? [], outcome: message.outcome });
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (outcomes.length < last - first) {
        const outcome = death === "hang" ? death : `crash: ${signal ?? code}`;
        outcomes.push({ seed: current.seed, how: current.how ?? [], outcome });
      }
      resolve(outcomes);
    });
  });
}
