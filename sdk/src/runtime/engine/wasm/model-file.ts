import { BertEdgeError } from "../../../artifact/error.ts";
import { PROGRAM_VERSION, type Program } from "./program.ts";

/** A model file in memory: its program, and where each tensor's bytes are in the file. */
export interface ModelFile {
  readonly program: Program;
  /** @returns the tensor's offset in the file */
  tensor(name: string): number;
}

interface Header {
  readonly __metadata__?: { readonly program?: string };
  readonly [tensor: string]: unknown;
}

/**
 * Reads the header of a model file. Its bytes are those that the manifest's hash says, so that it is what was packed; what is
 * checked is whether this version of the engine can run it.
 *
 * @throws BertEdgeError `model_invalid`, `model_version`
 */
export function readModelFile(file: Uint8Array): ModelFile {
  const invalid = (what: string) =>
    new BertEdgeError("model_invalid", `The file is not a model of the WebAssembly engine: ${what}.`, {
      hint: "Prepare the artifact again with this version of bert-edge.",
    });
  if (file.length < 8) throw invalid("it is shorter than its header");
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  if (8 + length > file.length) throw invalid("it ends within its header");
  let header: Header;
  try {
    header = JSON.parse(new TextDecoder().decode(file.slice(8, 8 + length))) as Header;
  } catch {
    throw invalid("its header is not JSON");
  }
  const text = header.__metadata__?.program;
  if (text === undefined) throw invalid("it has no program");
  const program = JSON.parse(text) as Program;
  if (program.version !== PROGRAM_VERSION) {
    throw new BertEdgeError(
      "model_version",
      `The model was packed for version ${program.version} of the engine; this is version ${PROGRAM_VERSION}.`,
      { hint: "Prepare the artifact again, or deploy the version of bert-edge that prepared it." },
    );
  }
  return {
    program,
    tensor(name) {
      const found = header[name] as { data_offsets?: [number, number] } | undefined;
      if (!found?.data_offsets) throw invalid(`it has no tensor ${name}`);
      return 8 + length + found.data_offsets[0];
    },
  };
}
