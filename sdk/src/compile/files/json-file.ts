import { basename, join } from "node:path";
import type * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import type { ErrorCode } from "../../artifact/error-codes.ts";
import { parseJson } from "../../artifact/parse-json.ts";
import { MAX_JSON_BYTES, MAX_TOKENIZER_BYTES, wholeText } from "./whole-file.ts";

/**
 * Reads and validates a JSON file of a checkpoint folder.
 *
 * @param code chooses the error code for an invalid file. The issue is undefined if the file is not JSON
 * @returns undefined when there is no such file
 * @throws BertEdgeError `checkpoint_invalid` when the file cannot be read; `file_too_large`; `code` when the content is not valid. The
 *   message names the file, and the invalid key if there is one.
 */
export async function readJson<S extends v.GenericSchema>(
  folder: string,
  file: string,
  schema: S,
  code: (issue?: v.BaseIssue<unknown>) => ErrorCode = () => "checkpoint_invalid",
): Promise<v.InferOutput<S> | undefined> {
  const path = join(folder, file);
  const text = await wholeText(path, maxBytesOf(file)).catch((cause: NodeJS.ErrnoException) => {
    if (cause instanceof BertEdgeError) throw cause;
    if (cause.code === "ENOENT") return undefined;
    if (cause.code === "ENOTDIR") {
      throw new BertEdgeError("checkpoint_invalid", `${folder} is a file, not a model folder.`, {
        hint: "Give the folder that contains config.json and tokenizer.json.",
        cause,
      });
    }
    throw new BertEdgeError("checkpoint_invalid", `${path} cannot be read.`, {
      hint: "Check that this is a file and that you have permission to read it.",
      cause,
    });
  });
  return text === undefined
    ? undefined
    : parseJson(schema, text, {
        code,
        what: `file ${path}`,
        hint: hintFor,
        check: (json) => assertShallow(json, path),
      });
}

const maxBytesOf = (file: string): number =>
  basename(file) === "tokenizer.json" ? MAX_TOKENIZER_BYTES : MAX_JSON_BYTES;

/** Maximum nesting levels of a JSON file, because later functions walk over it recursively. Files of models have less than 20. */
const MAX_LEVELS = 200;

function assertShallow(json: unknown, path: string): void {
  let level = objectsIn([json]);
  for (let count = 0; level.length > 0; count++) {
    if (count === MAX_LEVELS) {
      throw new BertEdgeError("checkpoint_invalid", `The file ${path} is nested more than ${MAX_LEVELS} levels deep.`, {
        hint: "No model needs that. Download or save the model again.",
      });
    }
    level = level.flatMap((each) => objectsIn(Object.values(each)));
  }
}

const objectsIn = (values: readonly unknown[]): object[] =>
  values.filter((value): value is object => typeof value === "object" && value !== null);

const AS_WRITTEN =
  "give a model folder that was written by save_pretrained (transformers) or save (sentence-transformers).";

/** @param field the wrong key; undefined if the file is not JSON, or the wrong part is the whole file */
function hintFor(field?: string): string {
  if (field === "model_type") return "Choose a model of a supported family: `npx bert-edge models` lists some.";
  // An index of a list says little, so the hint names the whole file instead.
  return `Correct ${field === undefined || /^\d+$/.test(field) ? "the file" : field}, or ${AS_WRITTEN}`;
}
