import { BertEdgeError } from "../../../../artifact/error.ts";
import { type ByteSource, headerEnd, readSafetensors } from "../../../../artifact/safetensors.ts";
import { shown } from "../../../../artifact/shown.ts";
import { ProgramFault } from "../ops/operand-reader.ts";
import { PROGRAM_VERSION, type Program } from "../run/program.ts";
import { type Expansions, expansionsOf } from "./expanded-weights.ts";

/** A model file of the engine: its program, and the places of its tensors in memory. Offsets count from the address MODEL. */
export interface ModelFile {
  readonly program: Program;
  readonly expansions: Expansions;
  /** @returns the tensor's offset, where kernels read it */
  tensor(name: string): number;
  /** @returns the tensor's size in bytes, as kernels read it; undefined when no tensor has this name */
  size(name: string): number | undefined;
  /** @returns the offset of the file's end */
  end(): number;
}

/** Returns the offset of the first tensor. @throws BertEdgeError `model_invalid` */
export const tensorsBegin = (file: Uint8Array): number => headerEnd(file, invalid);

/**
 * Reads the header of a model file. The bytes of the tensors may still be missing.
 *
 * @param file as long as the whole file. An array may begin at any offset of its buffer
 * @throws BertEdgeError `model_invalid`, `model_version`
 */
export function readModelFile(file: ByteSource): ModelFile {
  // When memory grows, a view of the old memory has no length any more.
  const { length } = file;
  const { metadata, tensors } = readSafetensors(file, invalid);
  const program = programOf(metadata.get("program"));
  if (program.version !== PROGRAM_VERSION) {
    throw new BertEdgeError(
      "model_version",
      `The model was packed for version ${shown(program.version)} of the engine, but this engine has version ${PROGRAM_VERSION}.`,
      { hint: "Prepare the artifact again, or deploy the version of bert-edge that prepared it." },
    );
  }
  const expansions = placesOf(program, tensors);
  const expanded = new Map(expansions.weights.map((weight) => [weight.name, weight]));
  return {
    program,
    expansions,
    tensor(name) {
      const found = tensors.get(name);
      if (!found) throw invalid(`it has no tensor ${name}`);
      return expanded.get(name)?.offset ?? expansions.begins + found.begin;
    },
    size(name) {
      const found = tensors.get(name);
      return expanded.get(name)?.bytes ?? (found && found.end - found.begin);
    },
    end: () => expansions.begins + length,
  };
}

function placesOf(...file: Parameters<typeof expansionsOf>): Expansions {
  try {
    return expansionsOf(...file);
  } catch (error) {
    throw error instanceof ProgramFault ? invalid(error.message, error) : error;
  }
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
