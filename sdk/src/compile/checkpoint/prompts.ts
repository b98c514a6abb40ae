import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { unnamedPrompts } from "../../runtime/tasks/prompt.ts";
import { readJson } from "../files/json-file.ts";

const FILE = "config_sentence_transformers.json";
const PromptConfig = v.object({
  prompts: v.nullish(v.record(v.string(), v.nullish(v.string()))),
  default_prompt_name: v.nullish(v.string()),
});

/** Prompts of a sentence encoder, by name. Both keys are missing if it has only the empty ones that every encoder has. */
export interface Prompts {
  readonly prompts?: Record<string, string>;
  readonly defaultPrompt?: string;
}

/**
 * Reads the prompts that sentence-transformers puts before texts. Those of queries and documents are empty if the file does not
 * name them: no other prompt stands in for them.
 *
 * @throws BertEdgeError `checkpoint_invalid` if the default prompt does not exist
 */
export async function readPrompts(folder: string): Promise<Prompts> {
  const config = await readJson(folder, FILE, PromptConfig);
  const named = Object.entries(config?.prompts ?? {}).map(([key, prompt]) => [key, prompt ?? ""] as const);
  const prompts: Record<string, string> = { ...unnamedPrompts, ...Object.fromEntries(named) };
  const name = config?.default_prompt_name ?? undefined;
  if (name !== undefined && !Object.hasOwn(prompts, name)) {
    throw new BertEdgeError("checkpoint_invalid", `${folder}/${FILE}: the default prompt ${name} does not exist.`, {
      hint: `Correct default_prompt_name. The file has these prompts: ${Object.keys(prompts).join(", ")}.`,
    });
  }
  if (Object.entries(prompts).every(([key, prompt]) => prompt === "" && Object.hasOwn(unnamedPrompts, key))) return {};
  return { prompts, ...(name !== undefined && { defaultPrompt: name }) };
}
