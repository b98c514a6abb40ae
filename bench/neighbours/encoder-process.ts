import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TokenIds } from "#sdk/runtime/engine/engine.ts";

/** Vectors of texts, and the time in which a form computed them, one after the other. */
export interface Answer {
  readonly seconds: number;
  readonly vectors: readonly Float32Array[];
}

/** A form in a process of its own: child.ts, or a script in Python with the same lines on its input and output. */
export interface EncoderProcess {
  /** @throws Error with the process's last words, if it has ended */
  embed(texts: readonly TokenIds[]): Promise<Answer>;
  stop(): Promise<void>;
}

/** Answer as a line of JSON: the float32 vectors one after the other, in base64. */
export interface AnswerLine {
  readonly seconds: number;
  readonly vectors: string;
}

/**
 * Starts a form, and waits until it has loaded its model.
 *
 * @throws Error with the process's last words, if it ends before
 */
export async function startEncoder([program = "", ...args]: readonly string[]): Promise<EncoderProcess> {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
  const ended = once(child, "close");
  // Its end is noticed where it should answer.
  ended.catch(() => {});
  child.stdin.on("error", () => {});
  let words = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    words = `${words}${text}`.slice(-2_000);
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => {
    const { value, done } = await lines.next();
    if (!done) return JSON.parse(value);
    await ended;
    throw new Error(words.trimEnd().split("\n").at(-1) || "The process ended.");
  };
  await next();
  return {
    async embed(texts) {
      child.stdin.write(`${JSON.stringify(texts.map((ids) => [...ids]))}\n`);
      const { seconds, vectors } = (await next()) as AnswerLine;
      return { seconds, vectors: rowsOf(new Uint8Array(Buffer.from(vectors, "base64")), texts.length) };
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

/** Reads float32 numbers, and splits them into rows of equal length. */
export function rowsOf(bytes: Uint8Array<ArrayBuffer>, count: number): Float32Array[] {
  const numbers = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const width = numbers.length / count;
  return Array.from({ length: count }, (_, row) => numbers.subarray(row * width, (row + 1) * width));
}
