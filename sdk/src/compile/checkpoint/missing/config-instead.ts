import { join } from "node:path";
import { pythonCommand } from "../../files/python-command.ts";
import type { Instead } from "./instead.ts";

/** Finds the configuration of Google's first BERT, which has another name and no model_type. */
export function configInstead(folder: string, names: readonly string[]): Instead | undefined {
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
