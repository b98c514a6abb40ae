import { BertEdgeError } from "../../../../artifact/error.ts";
import { PROGRAM_VERSION, type Program } from "../run/program.ts";

/** A model file in memory: its program, and where each tensor's bytes are in the file. */
export interface ModelFile {
  readonly program: Program;
  /** @returns the tensor's offset in the file */
  tensor(name: string): number;
  /** Of a tensor, in bytes; undefined when there is none of that name. */
  size(name: string): number | undefined;
}

interface Header {
  readonly __metadata__?: { readonly program?: string };
  readonly [tensor: string]: unknown;
}

/** Bytes that say how long the header is. */
export const LENGTH_BYTES = 8;

/** Where tensors begin. @throws BertEdgeError `model_invalid` */
export function headerEnd(file: Uint8Array): number {
  if (file.length < LENGTH_BYTES) throw invalid("it is shorter than its header");
  return LENGTH_BYTES + Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
}

/**
 * Reads the header of a model file. Its bytes are those that the manifest's hash says, so that it is what was packed; what is
 * checked is whether all of it is there, and whether this version of the engine can run it.
 *
 * @throws BertEdgeError `model_invalid`, `model_version`
 */
export function readModelFile(file: Uint8Array): ModelFile {
  const parsed = <T>(text: string, what: string): T => {
    try {
      return Object(JSON.parse(text)) as T;
    } catch (cause) {
      throw invalid(`${what} is not JSON`, cause);
    }
  };
  const start = headerEnd(file);
  if (start > file.length) throw invalid("it ends within its header");
  const header = parsed<Header>(new TextDecoder().decode(file.slice(LENGTH_BYTES, start)), "its header");
  const text = header.__metadata__?.program;
  if (text === undefined) throw invalid("it has no program");
  const program = parsed<Program>(text, "its program");
  if (program.version !== PROGRAM_VERSION) {
    throw new BertEdgeError(
      "model_version",
      `The model was packed for version ${program.version} of the engine; this is version ${PROGRAM_VERSION}.`,
      { hint: "Prepare the artifact again, or deploy the version of bert-edge that prepared it." },
    );
  }
  const ranges = new Map<string, { offset: number; size: number }>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const { 0: begin, 1: end } = Object(entry).data_offsets ?? [];
    const isThere = [begin, end].every(Number.isInteger) && begin >= 0 && begin <= end && start + end <= file.length;
    if (!isThere) throw invalid(`tensor ${name} lies outside it`);
    ranges.set(name, { offset: start + begin, size: end - begin });
  }
  return {
    program,
    tensor(name) {
      const range = ranges.get(name);
      if (!range) throw invalid(`it has no tensor ${name}`);
      return range.offset;
    },
    size: (name) => ranges.get(name)?.size,
  };
}

const invalid = (what: string, cause?: unknown) =>
  new BertEdgeError("model_invalid", `The file is not a model of the WebAssembly engine: ${what}.`, {
    hint: "Prepare the artifact again with this version of bert-edge.",
    cause,
  });
