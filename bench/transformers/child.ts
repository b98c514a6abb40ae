// Runs one engine in a process of its own, so that its memory can be told: embeds each text that the parent sends.
import { type EngineName, engines, type Measured } from "./engines.ts";

/** Message of the child after each text. */
export interface Answer {
  readonly ms: number;
  readonly vector: readonly number[];
  /** Memory of the process after the text, in MB. Linux would count the parent's into the peak. */
  readonly rssMB: number;
}

const [, , name = "", measured = ""] = process.argv;
const embed = await engines[name as EngineName](JSON.parse(measured) as Measured);
process.on("message", async (text: string) => {
  const start = performance.now();
  const vector = await embed(text);
  const ms = performance.now() - start;
  const answer: Answer = { ms, vector: [...vector], rssMB: process.memoryUsage.rss() / 1e6 };
  process.send?.(answer);
});
process.send?.("ready");
