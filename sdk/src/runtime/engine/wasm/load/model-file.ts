import { BertEdgeError } from "../../../../artifact/error.ts";
import { headerEnd, readSafetensors } from "../../../../artifact/safetensors.ts";
import { shown } from "../../../../artifact/shown.ts";
import { PROGRAM_VERSION, type Program } from "../run/program.ts";

/** A model file of the engine: its program, and the offset of each tensor in the file. */
export interface ModelFile {
  readonly program: Program;
  /** @returns the tensor's offset in the file */
  tensor(name: string): number;
  /** @returns the tensor's size in bytes; undefined when no tensor has this name */
  size(name: string): number | undefined;
}

/** Returns the offset of the first tensor. @throws BertEdgeError `model_invalid` */
export const tensorsBegin = (file: Uint8Array): number => headerEnd(file, invalid);

/**
 * Reads the header of a model file. The bytes of the tensors may still be missing.
 *
 * @param file an array as long as the whole file. It may begin at any offset of its buffer
 * @throws BertEdgeError `model_invalid`, `model_version`
 */
export function readModelFile(file: Uint8Array): ModelFile {
  const { metadata, tensors } = readSafetensors(file, invalid);
  const program = programOf(metadata.get("program"));
  if (program.version !== PROGRAM_VERSION) {
    throw new BertEdgeError(
      "model_version",
      `The model was packed for version ${shown(program.version)} of the engine, but this engine has version ${PROGRAM_VERSION}.`,
      { hint: "Prepare the artifact again, or deploy the version of bert-edge that prepared it." },
    );
  }
  return {
    program,
    tensor(name) {
      const found = tensors.get(name);
      if (!found) throw invalid(`it has no tensor ${name}`);
      return found.begin;
    },
    size(name) {
      const found = tensors.get(name);
      return found && found.end - found.begin;
    },
  };
}

function programOf(text: string | undefined): Program {
  if (text === undefined) throw invalid("it has no program");
  try {
    return Object(JSON.parse(text));
  } catch (cause) {
    throw invalid("its program is not JSON", cause);
  }
}

const invalid = (fault: string, cause?: unknown) =>
  new BertEdgeError("model_invalid", `The file is not a model of the WebAssembly engine: ${fault}.`, {
    hint: "Prepare the artifact again with this version of bert-edge.",
    cause,
  });
