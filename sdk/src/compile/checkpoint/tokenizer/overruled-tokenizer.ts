import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import { withNamedTokens } from "./named-tokens.ts";
import { type Rebuilt, rebuiltTokenizer } from "./rebuilt-tokenizer.ts";
import { assertTextTypes, withoutTokenTypes } from "./token-types.ts";
import { pythonTokenizer, type TokenizerClass, tokenizerClass } from "./tokenizer-class.ts";

/** tokenizer.json as transformers uses it, and what tokenizer_config.json changed in it, as sentences. */
export interface Overruled {
  readonly json: object;
  readonly changes: readonly string[];
}

const Flag = v.fallback(v.nullish(v.boolean()), undefined);
/** Keys of tokenizer_config.json that overrule tokenizer.json. */
const Settings = v.object({
  do_lower_case: Flag,
  strip_accents: Flag,
  tokenize_chinese_chars: Flag,
  add_prefix_space: Flag,
  trim_offsets: Flag,
  model_input_names: v.fallback(v.nullish(v.array(v.string())), undefined),
});
type Settings = v.InferOutput<typeof Settings>;

const Normalizer = v.object({ normalizer: v.looseObject({ type: v.literal("BertNormalizer") }) });
const PostProcessor = v.object({
  post_processor: v.looseObject({ trim_offsets: v.boolean(), add_prefix_space: v.boolean() }),
});
const PreTokenizer = v.object({ pre_tokenizer: v.looseObject({ add_prefix_space: v.boolean() }) });

/** Classes that give BERT's normalizer their own settings. A missing key counts as the class's default. */
const BERT_LIKE = ["BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "MPNetTokenizer"];
/** Classes that give the post-processor their own settings of spaces around tokens. */
const TRIMMING = ["RobertaTokenizer", "LongformerTokenizer"];
/** Classes that read any tokenizer.json as it is. */
const AS_IT_IS = ["PreTrainedTokenizer", "TokenizersBackend"];

/** Classes whose models get no token types, unless `model_input_names` asks for them. */
const WITHOUT_TYPES = [
  ...["RobertaTokenizer", "LongformerTokenizer", "XLMRobertaTokenizer", "CamembertTokenizer"],
  ...["DistilBertTokenizer", "MPNetTokenizer"],
];
/** Further classes without token types in folders that transformers 5 wrote. */
const RECENTLY_WITHOUT_TYPES = ["AlbertTokenizer", ...AS_IT_IS];

/**
 * Changes tokenizer.json as transformers does when it loads a folder: the class of the tokenizer gives the normalizer and the
 * pre-tokenizer its own settings, which come from tokenizer_config.json or are the class's defaults.
 *
 * @param json content of tokenizer.json
 * @param settings content of tokenizer_config.json
 * @param config content of config.json; empty if there is no such file
 * @throws BertEdgeError `checkpoint_unsupported`
 */
export function overruledTokenizer(json: object, settings: object, config: object): Overruled {
  const by = tokenizerClass(settings, config);
  assertReadsJson(settings, by);
  const keys = v.parse(v.fallback(Settings, {}), settings);
  const rebuilt = by.isRecent ? rebuiltTokenizer(json, settings, by) : undefined;
  const { json: named, changes } = rebuilt
    ? { json: rebuilt.json, changes: changesOf(rebuilt, by.name) }
    : changedTokenizer(json, settings, by);
  const hasTypes = keys.model_input_names?.includes("token_type_ids") ?? hasTokenTypes(by);
  if (hasTypes) assertTextTypes(named);
  return { json: hasTypes ? named : withoutTokenTypes(named), changes };
}

/** Refuses the classes that do not read tokenizer.json. */
function assertReadsJson(settings: object, { name }: TokenizerClass): void {
  const inPython = pythonTokenizer({ ...settings, tokenizer_class: name });
  if (inPython === undefined) return;
  throw new BertEdgeError(
    "checkpoint_unsupported",
    `transformers does not read this folder's tokenizer.json: ${inPython}.`,
    {
      hint: "Choose a model whose tokenizer transformers loads with is_fast. If your system reads this tokenizer.json, set tokenizer_class of tokenizer_config.json to PreTrainedTokenizerFast.",
    },
  );
}

const changesOf = ({ different }: Rebuilt, name: string): string[] =>
  different.length === 0
    ? []
    : [
        `The class ${name} of transformers 5 builds these parts in another way than tokenizer.json: ${different.join(", ")}.`,
      ];

/** Changes single settings of tokenizer.json. */
function changedTokenizer(json: object, settings: object, by: TokenizerClass): Overruled {
  const keys = v.parse(v.fallback(Settings, {}), settings);
  const all = by.isRecent ? [] : [normalizerOf, prefixSpaceOf, trimmingOf].map((step) => step(json, keys, by));
  const steps = all.filter((step) => step !== undefined);
  const changed: object = Object.assign({}, json, ...steps.map(({ part }) => part));
  return { json: withNamedTokens(changed, settings, by), changes: steps.map(({ change }) => change) };
}

/** Whether a class gives its models token types by default. */
const hasTokenTypes = ({ name, isRecent }: TokenizerClass): boolean =>
  !WITHOUT_TYPES.includes(name) && !(isRecent && RECENTLY_WITHOUT_TYPES.includes(name));

interface Step {
  readonly part: object;
  readonly change: string;
}

function normalizerOf(json: object, settings: Settings, { name }: TokenizerClass): Step | undefined {
  if (!BERT_LIKE.includes(name) || !v.is(Normalizer, json)) return undefined;
  const own: Readonly<Record<string, unknown>> = {
    lowercase: settings.do_lower_case ?? true,
    strip_accents: settings.strip_accents ?? null,
    ...(name !== "MPNetTokenizer" && { handle_chinese_chars: settings.tokenize_chinese_chars ?? true }),
  };
  const { normalizer } = v.parse(Normalizer, json);
  const different = Object.keys(own).filter((key) => (normalizer[key] ?? null) !== own[key]);
  if (different.length === 0) return undefined;
  return {
    part: { normalizer: { ...normalizer, ...own } },
    change: `The class ${name} and tokenizer_config.json overrule ${different
      .map((key) => `${key} of tokenizer.json: ${JSON.stringify(own[key])}`)
      .join(", ")}.`,
  };
}

function prefixSpaceOf(json: object, settings: Settings, { name }: TokenizerClass): Step | undefined {
  if (!v.is(PreTokenizer, json)) return undefined;
  const { pre_tokenizer } = v.parse(PreTokenizer, json);
  const add_prefix_space = settings.add_prefix_space ?? false;
  if (pre_tokenizer.add_prefix_space === add_prefix_space) return undefined;
  return {
    part: { pre_tokenizer: { ...pre_tokenizer, add_prefix_space } },
    change: `The class ${name} and tokenizer_config.json overrule add_prefix_space of tokenizer.json: ${add_prefix_space}.`,
  };
}

function trimmingOf(json: object, settings: Settings, { name }: TokenizerClass): Step | undefined {
  if (!TRIMMING.includes(name) || !v.is(PostProcessor, json)) return undefined;
  const { post_processor } = v.parse(PostProcessor, json);
  const own = { trim_offsets: settings.trim_offsets ?? true, add_prefix_space: settings.add_prefix_space ?? false };
  const changed = { ...post_processor, ...own };
  if (isDeepStrictEqual(changed, post_processor)) return undefined;
  return {
    part: { post_processor: changed },
    change: `The class ${name} and tokenizer_config.json overrule which spaces belong to a token in tokenizer.json: ${JSON.stringify(own)}.`,
  };
}
