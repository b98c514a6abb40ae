import { type Advice, BertEdgeError } from "../artifact/error.ts";
import { shown } from "../artifact/shown.ts";
import type { ServedNames } from "./service.ts";

/** Other names of served models: `{ "text-embedding-3-small": "bert-edge-mini" }`. */
export type ModelAliases = Readonly<Record<string, string>>;

/** Variables with other names of served models. */
export interface AliasesEnv {
  /** Other names, each with its model: `text-embedding-3-small=bert-edge-mini`. Commas are between them. */
  MODEL_ALIASES?: string | undefined;
}

/** Reads other names of served models from MODEL_ALIASES. */
export const aliasesFromEnv = ({ MODEL_ALIASES = "" }: AliasesEnv): ModelAliases =>
  Object.fromEntries(
    MODEL_ALIASES.split(",")
      .filter((entry) => entry.trim() !== "")
      .map((entry) => entry.split("=").map((part) => part.trim())),
  );

/** @throws BertEdgeError `setting_invalid` if an alias is the name of a model, or stands for none */
export function servedNames(names: readonly string[], aliases: ModelAliases = {}): ServedNames {
  for (const [alias, model] of Object.entries(aliases)) checkAlias(alias, model, names);
  const models = new Map([...names.map((name) => [name, name] as const), ...Object.entries(aliases)]);

  /** Returns the only model with a name that differs in nothing that matters; undefined if there are several or none. */
  function alike(asked: string): string | undefined {
    const found = new Set([...models].flatMap(([known, model]) => (bare(known) === bare(asked) ? [model] : [])));
    return found.size === 1 ? [...found][0] : undefined;
  }

  return {
    names,
    models,
    find(model = names[0] as string) {
      const [asked = "", version, ...rest] = model.split("@");
      const name = models.get(asked) ?? alike(asked);
      if (name === undefined || rest.length > 0) throw modelUnknown(model, models.keys());
      return { name, version };
    },
    assertOne() {
      if (names.length === 1) return;
      const what = "The request names no model, and this deployment serves several.";
      throw new BertEdgeError("request_invalid", what, { hint: setModel(models.keys()) });
    },
  };
}

/** Returns a name in small letters, without an organization before it. */
const bare = (name: string): string => name.toLowerCase().replace(/^\w[^/]*\/(?=[^/]+$)/, "");

function checkAlias(alias: string, model: string | undefined, names: readonly string[]): void {
  const invalid = (what: string, hint: string) =>
    new BertEdgeError("setting_invalid", `The option aliases ${what}.`, { hint });
  if (!/^[^\s@]+$/.test(alias)) {
    throw invalid(`has the name ${shown(alias)}`, "Use a name without spaces and @.");
  }
  if (names.includes(alias.toLowerCase())) {
    throw invalid(`has ${shown(alias)}, which is the name of a served model`, "Choose another name, or leave it out.");
  }
  if (!names.includes(model as string)) {
    const hint = `Give it one of ${names.join(", ")}, or serve that model too.`;
    throw invalid(`has ${shown(alias)} for the model ${shown(model)}, which is not served`, hint);
  }
}

/** @param known the names that requests can have */
export const modelUnknown = (model: string, known: Iterable<string>): BertEdgeError =>
  new BertEdgeError(
    "model_unknown",
    `This deployment does not serve the model ${JSON.stringify(model.slice(0, 80))}.`,
    {
      hint: setModel(known),
    },
  );

function setModel(known: Iterable<string>): Advice {
  const [first, ...others] = known;
  return others.length > 0 ? [{ set: "model", among: [first, ...others] }] : [{ set: "model", to: first }];
}
