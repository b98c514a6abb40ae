import { type Dirent, existsSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import type { ErrorCode } from "../../artifact/error-codes.ts";
import { pythonCommand } from "../files/python-command.ts";
import { entriesOf } from "../files/regular-file.ts";
import { MAX_JSON_BYTES, wholeTextSync } from "../files/whole-file.ts";
import { pythonTokenizer } from "./tokenizer/tokenizer-class.ts";

/** Parts of the error for a missing file: what the folder has instead, and what to do. */
interface Instead {
  /** Default: `checkpoint_missing`. */
  readonly code?: ErrorCode;
  /** End of the sentence that begins with "… does not exist, but ". */
  readonly but: string;
  readonly hint: string;
}

const USUAL =
  "Give a folder with config.json, tokenizer.json and model.safetensors, as transformers' save_pretrained() " +
  "writes them. A float32 model.onnx, as Optimum exports it, can replace model.safetensors.";

/** Maximum number of files that the hint lists. */
const LISTED = 12;

/** Makes the error for a file that a model folder does not have. Looks at what the folder has instead. */
export function missingFile(folder: string, file: string): BertEdgeError {
  if (file === "config.json" && !existsSync(folder)) {
    return new BertEdgeError("checkpoint_missing", `There is no folder ${folder}.`, {
      hint: "Correct the path, or give a name that `npx bert-edge models` lists, or org/name of the Hugging Face Hub.",
    });
  }
  const entries = entriesOf(folder);
  const instead = insteadOf(folder, file, entries);
  return new BertEdgeError(
    instead?.code ?? "checkpoint_missing",
    `${join(folder, file)} does not exist${instead ? `, but ${instead.but}` : ""}.`,
    { hint: instead?.hint ?? `${USUAL}${listed(folder, entries)}` },
  );
}

function insteadOf(folder: string, file: string, entries: readonly Dirent[]): Instead | undefined {
  const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  if (file === "config.json") return configInstead(folder, names) ?? modelsBelow(folder, entries, file);
  if (file === "tokenizer.json") return tokenizerInstead(folder, names);
  return file === "model.safetensors" ? (weightsInstead(names) ?? modelsBelow(folder, entries, file)) : undefined;
}

function listed(folder: string, entries: readonly Dirent[]): string {
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted();
  const more = names.length > LISTED ? ", …" : "";
  return names.length > 0 ? ` ${folder} has: ${names.slice(0, LISTED).join(", ")}${more}` : "";
}

/** Finds the configuration of Google's first BERT, which has another name and no model_type. */
function configInstead(folder: string, names: readonly string[]): Instead | undefined {
  const name = "bert_config.json";
  if (!names.includes(name)) return undefined;
  const [from, to] = [join(folder, name), join(folder, "config.json")].map((path) => JSON.stringify(path));
  const command = pythonCommand(
    `import json; c = json.load(open(${from})); c["model_type"] = "bert"; json.dump(c, open(${to}, "w"))`,
  );
  return {
    but: `${name} does`,
    hint: `Copy it to config.json, and add the line "model_type": "bert":\n    ${command}`,
  };
}

/** Vocabularies that transformers makes a tokenizer.json from. */
const vocabularies = ["vocab.txt", "vocab.json"];

/** Vocabularies of SentencePiece. Python's packages sentencepiece and protobuf read them. */
const sentencePieces = ["sentencepiece.bpe.model", "spiece.model", "spm.model", "tokenizer.model"];

/** Files from which transformers makes a tokenizer.json. */
export const vocabularyFiles: readonly string[] = [...vocabularies, ...sentencePieces];

/**
 * Finds what a tokenizer.json can be made from.
 *
 * @param names names of the folder's files
 */
function tokenizerInstead(folder: string, names: readonly string[]): Instead | undefined {
  const inPython = pythonTokenizer(settingsOf(folder)) ?? (names.includes("bpe.codes") ? PYTHON_CODE : undefined);
  if (inPython !== undefined) {
    return {
      code: "checkpoint_unsupported",
      but: `${inPython}, which no tokenizer.json can do`,
      hint: "Choose a model whose tokenizer has a tokenizer.json: one that transformers loads as a tokenizer with is_fast.",
    };
  }
  const found = vocabularyFiles.find((file) => names.includes(file));
  if (found === undefined) return undefined;
  const path = JSON.stringify(folder);
  const command = pythonCommand(
    `from transformers import AutoTokenizer; AutoTokenizer.from_pretrained(${path}).save_pretrained(${path})`,
  );
  const needs = sentencePieces.includes(found) ? " (it needs `pip install sentencepiece protobuf`)" : "";
  return { but: `${found} does`, hint: `Make tokenizer.json from it with transformers${needs}:\n    ${command}` };
}

/** Describes a tokenizer with the merges of fastBPE (bpe.codes), which runs in Python. */
const PYTHON_CODE = "its tokenizer splits texts with Python code";

/** Returns the content of tokenizer_config.json; an empty object if the file is missing or is not JSON. */
function settingsOf(folder: string): unknown {
  const path = join(folder, "tokenizer_config.json");
  const text = existsSync(path) ? wholeTextSync(path, MAX_JSON_BYTES) : "{}";
  return v.parse(v.fallback(v.pipe(v.string(), v.parseJson()), {}), text);
}

/** Patterns for the names of other tools' weight files, and the name of each tool. */
const others: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/\.h5$/, "TensorFlow"],
  [/\.ckpt(\.\w[\w-]*)?$/, "TensorFlow"],
  [/\.msgpack$/, "Flax"],
  [/\.ot$/, "Rust"],
  [/\.gguf$/, "llama.cpp"],
  [/^openvino_.*\.(xml|bin)$/, "OpenVINO"],
];

/** Finds safetensors under another name, or else weight files of other tools. */
function weightsInstead(names: readonly string[]): Instead | undefined {
  const renamed = names.find((name) => name.endsWith(".safetensors") && !/^adapter_|-of-\d+\.safetensors$/.test(name));
  if (renamed !== undefined) {
    return {
      but: `${renamed} does`,
      hint: `If it has the weights of this model, rename it to model.safetensors.`,
    };
  }
  const ofTools = names.flatMap((name) => {
    const [, tool] = others.find(([pattern]) => pattern.test(name)) ?? [];
    return tool === undefined ? [] : [`${name} (${tool})`];
  });
  if (ofTools.length > 0) {
    return {
      but: `${ofTools.join(", ")} does`,
      hint: "These weights cannot be read. Save the model as safetensors with the tool that wrote them, or take a model that has model.safetensors.",
    };
  }
  return undefined;
}

/**
 * Finds subfolders that are model folders and have `file`, such as 0_Transformer or a checkpoint of a training. Subfolders of
 * other modules, such as 1_Pooling, have a config.json too, but without model_type.
 */
export function modelsBelow(folder: string, entries: readonly Dirent[], file: string): Instead | undefined {
  const below = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .filter((path) => existsSync(join(path, file)) && hasModelType(join(path, "config.json")))
    .toSorted();
  const [first] = below;
  if (first === undefined) return undefined;
  const poolings = entries.filter(({ name }) => /^\d+_Pooling$/.test(name)).map(({ name }) => `${name}/config.json`);
  const pooling = poolings.length > 0 ? ` Then set --pooling to the pooling in ${poolings.join(" or ")}.` : "";
  return {
    but: `${join(first, file)} does`,
    hint: `Give the path of ${below.length > 1 ? "one of these folders" : "this folder"}: ${below.join(", ")}.${pooling}`,
  };
}

function hasModelType(path: string): boolean {
  try {
    return wholeTextSync(path, MAX_JSON_BYTES).includes('"model_type"');
  } catch {
    return false;
  }
}

/** Names of the files whose links are checked. Without the check, a dangling link could count as a file that the model lacks. */
const READ = /\.(json|safetensors|bin|metadata|onnx|onnx_data|data)$/;

/**
 * Refuses a model folder with a link to a file that does not exist, as in a copy of the Hub's cache without its blobs.
 *
 * @throws BertEdgeError `checkpoint_missing`
 */
export function assertNoDanglingLink(root: string): void {
  const below = entriesOf(root).filter((entry) => entry.isDirectory());
  for (const folder of [root, ...below.map(({ name }) => join(root, name))]) {
    const links = entriesOf(folder).filter((entry) => entry.isSymbolicLink() && READ.test(entry.name));
    const dangling = links.map(({ name }) => join(folder, name)).find((path) => !existsSync(path));
    if (dangling === undefined) continue;
    throw new BertEdgeError(
      "checkpoint_missing",
      `${dangling} is a link to ${readlinkSync(dangling)}, which does not exist.`,
      { hint: "Download the model again, or copy its folder with the files that its links lead to: `cp -rL`." },
    );
  }
}
