// Runs one form in a process of its own. Each line of the input is a list of texts as token ids; each line of the output has
// their vectors, and the time to compute them one after the other.
import { createInterface } from "node:readline";
import type { AnswerLine } from "./encoder-process.ts";
import { encoders } from "./encoders.ts";

const [, , name = "", ...args] = process.argv;
const embed = await encoders[name as keyof typeof encoders](...(args as [string, string, string]));
const write = (value: AnswerLine | "ready") => process.stdout.write(`${JSON.stringify(value)}\n`);
write("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const texts = (JSON.parse(line) as number[][]).map((ids) => Int32Array.from(ids));
  const vectors: Float32Array[] = [];
  const start = performance.now();
  for (const ids of texts) vectors.push(await embed(ids));
  const seconds = (performance.now() - start) / 1000;
  const bytes = vectors.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength));
  write({ seconds, vectors: Buffer.concat(bytes).toString("base64") });
}
// Engines keep threads.
process.exit();
