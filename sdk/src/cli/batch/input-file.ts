import { type BigIntStats, createReadStream, fstatSync, statSync } from "node:fs";
import { BertEdgeError } from "../../artifact/error.ts";
import { otherKind } from "../../compile/files/regular-file.ts";
import { jobFiles } from "./job-files.ts";

/** Bytes that are read at a time. */
const PIECE_BYTES = 1 << 20;

/** The input of a job. */
export interface InputFile {
  /** Name for messages. */
  readonly name: string;
  /** Size in bytes; undefined for stdin and pipes. */
  readonly size: number | undefined;
  /** Reads the whole input. */
  pieces(): AsyncIterable<Uint8Array>;
}

/**
 * Finds the input of a job.
 *
 * @param path path of a file, or `-` for stdin
 * @param out path of the results
 * @throws BertEdgeError `data_missing` when there is no such file, and for devices and named pipes, which may never end;
 *   `setting_invalid` when the job would replace or delete the input
 */
export function inputFile(path: string, out: string): InputFile {
  const name = path === "-" ? "stdin" : path;
  const found = path === "-" ? statOfStdin() : statSync(path, { throwIfNoEntry: false, bigint: true });
  if (path !== "-") assertInput(path, found);
  const replaced = found && jobFiles(out).find((file) => isFile(file, found));
  if (replaced !== undefined) {
    const what =
      replaced === out ? "the input and the output" : `the input, and a file that belongs to the output ${out}`;
    throw new BertEdgeError("setting_invalid", `${replaced} is ${what}.`, { hint: "Name another output file." });
  }
  return {
    name,
    size: path !== "-" && found?.isFile() ? Number(found.size) : undefined,
    pieces: () => readable(path === "-" ? process.stdin : createReadStream(path, { highWaterMark: PIECE_BYTES }), name),
  };
}

/** @throws BertEdgeError `data_missing` */
function assertInput(path: string, found: BigIntStats | undefined): void {
  const kind = found && otherKind(found);
  // A shell gives <(command) as a pipe in /dev. It is allowed, because the command writes to it and ends.
  if (found && (!kind || (found.isFIFO() && path.startsWith("/dev/")))) return;
  throw new BertEdgeError("data_missing", `${path} ${kind ? `is ${kind}, not` : "is not"} a file.`, {
    hint: 'Give a JSONL file with a line {"id": "…", "text": "…"} for each text, or - for stdin.',
  });
}

/** Describes stdin. Undefined if the process has none. */
function statOfStdin(): BigIntStats | undefined {
  try {
    return fstatSync(0, { bigint: true });
  } catch {
    return undefined;
  }
}

/** Whether a path leads to this file, also through links. */
function isFile(path: string, { dev, ino }: BigIntStats): boolean {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found?.dev === dev && found.ino === ino;
}

async function* readable(stream: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const pieces = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await pieces.next().catch((cause: unknown) => {
        throw new BertEdgeError("data_missing", `${name} cannot be read.`, {
          hint: "Check the file and your permission to read it. The results so far are kept: run the command again.",
          cause,
        });
      });
      if (done) return;
      yield value;
    }
  } finally {
    await pieces.return?.();
  }
}
