import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { readJson } from "../files/json-file.ts";

const FILE = "config_sentence_transformers.json";
const PromptConfig = v.object({
  prompts: v.nullish(v.record(v.string(), v.nullish(v.string()))),
  default_prompt_name: v.nullish(v.string()),
});

/** Prompts of a sentence encoder, by name. Both keys are missing if it has none. */
export interface Prompts {
  readonly prompts?: Record<string, string>;
  readonly defaultPrompt?: string;
}

/**
 * Reads the prompts that sentence-transformers puts before texts. Empty prompts are left out.
 *
 * @throws BertEdgeError `checkpoint_invalid` if the default prompt does not exist
 */
export async function readPrompts(folder: string): Promise<Prompts> {
  const config = await readJson(folder, FILE, PromptConfig);
  const all = config?.prompts ?? {};
  const name = config?.default_prompt_name ?? undefined;
  if (name !== undefined && !Object.hasOwn(all, name)) {
    throw new BertEdgeError("checkpoint_invalid", `${folder}/${FILE}: the default prompt ${name} does not exist.`, {
      hint: `Correct default_prompt_name. The file has these prompts: ${Object.keys(all).join(", ") || "none"}.`,
    });
  }
  const prompts = Object.fromEntries(
    Object.entries(all).flatMap(([key, prompt]) => (prompt ? [[key, prompt] as const] : [])),
  );
  return {
    ...(Object.keys(prompts).length > 0 && { prompts }),
    ...(name !== undefined && Object.hasOwn(prompts, name) && { defaultPrompt: name }),
  };
}
