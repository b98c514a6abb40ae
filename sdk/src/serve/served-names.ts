import * as v from "valibot";
import { type Advice, BertEdgeError } from "../artifact/error.ts";
import { ModelName, ModelVersion } from "../artifact/manifest.ts";
import { shown } from "../artifact/shown.ts";
import { optionInvalid } from "./call-defaults.ts";
import type { ServedNames } from "./service.ts";

/** Other names of served models: `{ "text-embedding-3-small": "bert-edge-mini" }`. */
export type ModelAliases = Readonly<Record<string, string>>;

/** Variables with other names of served models. */
export interface AliasesEnv {
  /** Other names, each with its model, separated by commas: `text-embedding-3-small=bert-edge-mini`. */
  MODEL_ALIASES?: string | undefined;
}

/** Reads other names of served models from MODEL_ALIASES. */
export function aliasesFromEnv({ MODEL_ALIASES = "" }: AliasesEnv): ModelAliases {
  const aliases = new Map<string, string>();
  for (const entry of MODEL_ALIASES.split(",").filter((each) => each.trim() !== "")) {
    const [alias = "", ...model] = entry.split("=").map((part) => part.trim());
    // Joins the models of a repeated alias with a comma, so that `servedNames` refuses it: no model has such a name.
    aliases.set(alias, [aliases.get(alias) ?? [], model.join("=")].flat().join());
  }
  return Object.fromEntries(aliases);
}

/**
 * Checks the names and aliases of the served models, and makes the lookup of a request's model.
 *
 * @param given names of the served models. Plain JavaScript can give anything
 * @throws BertEdgeError `setting_invalid` if a name is not valid, or if an alias is the name of a served model or stands for a model that
 *   is not served
 */
export function servedNames(given: readonly string[], aliases: ModelAliases = {}): ServedNames {
  const names = [...new Set(given.map((name) => (typeof name === "string" ? name.trim() : name)))];
  if (names.length === 0 || !names.every((name) => v.is(ModelName, name))) {
    const hint = "Name published models. A name must be 1-64 of a-z 0-9 . _ - and start with a letter or digit.";
    throw optionInvalid(`model is ${shown(given)}`, hint);
  }
  if (aliases.constructor !== Object) throw aliasInvalid("is no object", ALIAS);
  for (const [alias, model] of Object.entries(aliases)) checkAlias(alias, model, names);
  const models = new Map([...names.map((name) => [name, name] as const), ...Object.entries(aliases)]);

  /** Returns the only model with an equal name or alias, apart from capital letters and `org/`; undefined if several or none match. */
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
      // A caller's version becomes part of an object's key: `../../x` would leave the models' folder.
      const isVersion = version === undefined || v.is(ModelVersion, version);
      if (name === undefined || !isVersion || rest.length > 0) throw modelUnknown(model, models.keys());
      return { name, version };
    },
    assertOne() {
      if (names.length === 1) return;
      const what = "The request names no model, and this deployment serves several.";
      throw new BertEdgeError("request_invalid", what, { hint: setModel(models.keys()) });
    },
  };
}

/** Returns a name in lower case, without the organization before it. */
const bare = (name: string): string => name.toLowerCase().replace(/^\w[^/]*\/(?=[^/]+$)/, "");

const ALIAS = 'Write { "ada": "bge-small" }, or MODEL_ALIASES=ada=bge-small,bert=bge-large.';

const aliasInvalid = (what: string, hint: string) => optionInvalid(`aliases ${what}`, hint);

function checkAlias(alias: string, model: string | undefined, names: readonly string[]): void {
  if (!/^[^\s@{}",;]+$/.test(alias) || !model)
    throw aliasInvalid(`has the entry ${shown(alias)}: ${shown(model)}`, ALIAS);
  if (names.includes(alias.toLowerCase())) {
    const what = `has ${shown(alias)}, which is the name of a served model`;
    throw aliasInvalid(what, "Choose another name, or leave it out.");
  }
  if (!names.includes(model)) {
    const hint = `Give it one of ${names.join(", ")}, or serve that model too.`;
    throw aliasInvalid(`has ${shown(alias)} for the model ${shown(model)}, which is not served`, hint);
  }
}

/** @param known names and aliases that requests can use */
const modelUnknown = (model: string, known: Iterable<string>): BertEdgeError =>
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
