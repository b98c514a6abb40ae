import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { targetNames, taskNames } from "../../artifact/manifest.ts";
import { shown } from "../../artifact/shown.ts";
import { assertOptions } from "../../artifact/similar-names.ts";

/** Accepts one of the given words or numbers. */
const oneOf = (words: readonly (string | number)[]) =>
  v.optional(v.picklist(words as readonly string[], `must be one of ${words.join(", ")}`));
const anything = v.optional(v.unknown());
const text = v.optional(v.string("must be a string"));
/** Accepts a list of at least one item. */
const listOf = (item: v.GenericSchema<string>, what: string) =>
  v.pipe(
    v.array(v.unknown(), `must be a list of ${what}`),
    v.nonEmpty(`must be a list of ${what}`),
    v.check((items) => items.every((each) => v.is(item, each)), `must be a list of ${what}`),
  );
const bytes = v.optional(
  v.pipe(
    v.number("must be a number of bytes"),
    v.integer("must be a whole number of bytes"),
    v.minValue(1, "must be at least 1"),
  ),
);
const flag = v.optional(v.boolean("must be true or false"));

/** Schemas of the options. A later step checks the options with the schema `anything`. */
const entries = {
  model: v.custom<unknown>(
    (model) => (typeof model === "string" && model !== "") || model instanceof Map,
    "must be the path of a model's folder, or a Map of its files",
  ),
  ...{ out: text, name: text, cache: text, sts: text, labelled: text, golden: text },
  targets: v.optional(listOf(v.picklist(targetNames), targetNames.join(", "))),
  calibration: v.optional(listOf(v.string(), "texts")),
  ...{ tableBits: oneOf([8, 4]), weightBits: oneOf([8, 4]), maxSize: bytes, maxMemory: bytes },
  regionPrecision: oneOf(["int8", "int8-mixed", "int8-blocks"]),
  minCosine: v.optional(
    v.pipe(v.number("must be a number"), v.minValue(0, "must be at least 0"), v.maxValue(1, "must be at most 1")),
  ),
  goldenMin: v.optional(v.number("must be a number")),
  timingRounds: v.optional(
    v.pipe(v.number("must be a number"), v.integer("must be a whole number"), v.minValue(1, "must be at least 1")),
  ),
  ...{ fast: flag, force: flag, normalize: flag, pages: flag },
  task: oneOf(taskNames),
  input: oneOf(["text", "pair"]),
  pooling: oneOf(["mean", "cls", "max", "last"]),
  ...{ prompts: anything, acceptKeys: anything, signal: anything, onProgress: anything },
};

/**
 * Checks the options of `prepare`, because callers in plain JavaScript have no type checks.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function checkPrepareOptions<Name extends keyof typeof entries>(
  options: {
    readonly [name in Name]?: unknown;
  },
): void {
  const invalid = (what: string, hint: string) => new BertEdgeError("setting_invalid", what, { hint });
  if (typeof options !== "object" || options === null) {
    const what = `The options of prepare must be an object, but are ${shown(options)}.`;
    throw invalid(what, 'Give an object: prepare({ model: "./model", out: "./artifact" }).');
  }
  assertOptions("prepare", options, Object.keys(entries));
  const { issues } = v.safeParse(v.object(entries), options, { abortEarly: true });
  if (issues) {
    const [name = ""] = (v.getDotPath(issues[0]) ?? "").split(".");
    const value = shown((options as Record<string, unknown>)[name]);
    throw invalid(`The option ${name} of prepare cannot be ${value}.`, `It ${issues[0].message}.`);
  }
  const given: Partial<Record<string, unknown>> = options;
  const [decided] = ["weightBits", "tableBits"].filter(
    (name) => given[name] !== undefined && given["maxSize"] !== undefined,
  );
  if (decided) {
    const both = `${named("maxSize")} and ${named(decided)} cannot be given together.`;
    throw invalid(both, `Leave out ${named(decided)}: the maximum size decides it.`);
  }
  const targets = given["targets"] as readonly string[] | undefined;
  const [ofEdge] = ["weightBits", "maxSize", "maxMemory", "pages"].filter((name) => given[name] !== undefined);
  if (ofEdge && targets && !targets.includes("edge")) {
    const what = `${named(ofEdge)} is for the target edge, which is not prepared.`;
    throw invalid(what, `Leave out ${named(ofEdge)}, or add edge to targets.`);
  }
}

/** Options of the command line that have another name. */
const inCommands: Readonly<Record<string, string>> = {
  tableBits: "--table",
  weightBits: "--weights",
  maxSize: "--max-size",
  maxMemory: "--max-memory",
  pages: "--pages",
};
const named = (option: string): string => `${option} (${inCommands[option]})`;
