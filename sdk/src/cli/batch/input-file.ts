import { createReadStream, realpathSync, statSync } from "node:fs";
import { BertEdgeError } from "../../artifact/error.ts";

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
 * @param path path of a file or a pipe, or `-` for stdin
 * @param out path of the results
 * @throws BertEdgeError `data_missing`; `setting_invalid` when the results would replace the input
 */
export function inputFile(path: string, out: string): InputFile {
  if (path === "-") return { name: "stdin", size: undefined, pieces: () => readable(process.stdin, "stdin") };
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || found.isDirectory()) {
    throw new BertEdgeError("data_missing", `${path} is not a file.`, {
      hint: 'Give a JSONL file with a line {"id": "…", "text": "…"} for each text, or - for stdin.',
    });
  }
  if (statSync(out, { throwIfNoEntry: false }) && realpathSync(path) === realpathSync(out)) {
    throw new BertEdgeError("setting_invalid", `${out} is the input and the output.`, {
      hint: "Name another output file.",
    });
  }
  return {
    name: path,
    size: found.isFile() ? found.size : undefined,
    pieces: () => readable(createReadStream(path, { highWaterMark: PIECE_BYTES }), path),
  };
}

async function* readable(stream: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const pieces = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await pieces.next().catch((cause: unknown) => {
        throw new BertEdgeError("data_missing", `${name} cannot be read.`, {
          hint: "Check the file and your permission to read it. What is done is kept: run the command again.",
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
