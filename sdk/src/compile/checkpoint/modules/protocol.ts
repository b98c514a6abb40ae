import { join } from "node:path";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { Protocol } from "../../../runtime/tasks/late-interaction.ts";
import type { EncoderConfig } from "../encoder-config.ts";
import { maxTokensOf } from "../encoder-config.ts";
import { readTokenizer } from "../model-folder.ts";
import type { ModelPlace } from "../model-place.ts";
import { type SpelledTokens, spelledTokens } from "../tokenizer/special-tokens.ts";
import { assertPadsRight } from "../tokenizer/tokenizer-sides.ts";
import { ARTIFACT_METADATA, readArtifactMetadata } from "./artifact-metadata.ts";
import { readSentenceConfig, SENTENCE_CONFIG } from "./sentence-config.ts";
import { readLowercases } from "./transformer-config.ts";

/** Settings of queries and documents in a folder. */
interface Settings {
  readonly queryMarker: string;
  readonly documentMarker: string;
  readonly queryLength: number;
  readonly documentLength: number;
  readonly skippedWords: readonly string[];
  readonly expands: boolean;
  readonly attends: boolean;
  /** Names the keys that turn the expansion of queries into one that is supported. */
  readonly otherExpansion: string;
}

/** Punctuation of ASCII: Python's `string.punctuation`. */
const PUNCTUATION = [..."!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"];

/** PyLate's default lengths of queries and documents in tokens. Stanford's ColBERT has the same defaults. */
const DEFAULTS = { queryLength: 32, documentLength: 180 };

/**
 * Reads the settings of a late-interaction model for queries and documents: from config_sentence_transformers.json of PyLate,
 * or from artifact.metadata of Stanford's ColBERT. The tokenizer is in the folder of the Transformer module.
 *
 * @param by library that wrote the model; undefined if its modules do not show which
 * @returns undefined if the folder has no such settings
 * @throws BertEdgeError `checkpoint_invalid` if the tokenizer has no token for a marker; `checkpoint_unsupported`
 */
export async function readProtocol(
  { root, folder }: Pick<ModelPlace, "root" | "folder">,
  config: EncoderConfig,
  by: "Stanford" | "PyLate" | undefined,
): Promise<Protocol | undefined> {
  const settings = by === "Stanford" ? await ofStanford(root) : await ofPyLate(root, by === "PyLate");
  if (!settings) return undefined;
  const files = await readTokenizer(folder);
  const tokens = spelledTokens(files);
  const most = maxTokensOf(config);
  const { queryLength, documentLength, skippedWords } = settings;
  const markerOf = (spelling: string) =>
    spelling === "" ? {} : { marker: tokens.idOf(spelling) ?? noMarker(folder, spelling) };
  const expansion = settings.expands ? expansionOf(folder, settings, tokens) : undefined;
  if (expansion) {
    assertExpands(root, config, settings);
    assertPadsRight(folder, files, "expansion tokens would stand before a query");
  }
  const unknown = tokens.named("unk_token");
  const skipped = skippedWords.flatMap((word) => tokens.idOf(word) ?? unknown ?? []);
  return {
    query: { length: Math.min(queryLength, most), ...markerOf(settings.queryMarker), ...(expansion && { expansion }) },
    document: {
      length: Math.min(documentLength, most),
      ...markerOf(settings.documentMarker),
      skipped: [...new Set(skipped)],
    },
    ...((await readLowercases(folder)) && { lowercases: true }),
  };
}

async function ofPyLate(folder: string, isSure: boolean): Promise<Settings | undefined> {
  const config = await readSentenceConfig(folder);
  const keys = [
    config.query_prefix,
    config.document_prefix,
    config.query_length,
    config.document_length,
    config.skiplist_words,
    config.do_query_expansion,
    config.attend_to_expansion_tokens,
  ];
  if (!isSure && config.model_type !== "ColBERT" && keys.every((key) => key == null)) return undefined;
  const expands = config.do_query_expansion ?? true;
  return {
    queryMarker: config.query_prefix ?? "[Q] ",
    documentMarker: config.document_prefix ?? "[D] ",
    queryLength: config.query_length ?? DEFAULTS.queryLength,
    documentLength: config.document_length ?? DEFAULTS.documentLength,
    skippedWords: config.skiplist_words ?? PUNCTUATION,
    expands,
    attends: expands && (config.attend_to_expansion_tokens ?? false),
    otherExpansion: `query_length, attend_to_expansion_tokens or do_query_expansion in ${SENTENCE_CONFIG}`,
  };
}

async function ofStanford(folder: string): Promise<Settings> {
  const metadata = await readArtifactMetadata(folder);
  return {
    queryMarker: metadata?.query_token_id ?? "[unused0]",
    documentMarker: metadata?.doc_token_id ?? "[unused1]",
    queryLength: metadata?.query_maxlen ?? DEFAULTS.queryLength,
    documentLength: metadata?.doc_maxlen ?? DEFAULTS.documentLength,
    skippedWords: (metadata?.mask_punctuation ?? true) ? PUNCTUATION : [],
    expands: true,
    attends: metadata?.attend_to_mask_tokens ?? false,
    otherExpansion: `query_maxlen or attend_to_mask_tokens in ${ARTIFACT_METADATA}`,
  };
}

/**
 * Returns the token that fills queries up to their length, as in PyLate: the mask token, else the token at the end of a text,
 * else the padding token.
 */
function expansionOf(folder: string, { attends: isAttended }: Settings, tokens: SpelledTokens) {
  const mask = tokens.named("mask_token");
  // If tokenizer_config.json has no key mask_token, the tokenizer's class names the mask token.
  const usual = mask === null ? undefined : (tokens.idOf("[MASK]") ?? tokens.idOf("<mask>"));
  const token = mask ?? usual ?? tokens.named("eos_token") ?? tokens.named("pad_token") ?? undefined;
  if (token !== undefined) return { token, isAttended };
  throw new BertEdgeError(
    "checkpoint_invalid",
    `The tokenizer in ${folder} has no mask token to expand queries with.`,
    {
      hint: "Name it as mask_token in tokenizer_config.json.",
    },
  );
}

/**
 * Refuses a query expansion for which bert-edge's engines would compute other vectors than the model's own library.
 *
 * @throws BertEdgeError `checkpoint_unsupported`
 */
function assertExpands(folder: string, config: EncoderConfig, settings: Settings): void {
  const { queryLength: length, attends: isAttended, otherExpansion } = settings;
  const radius = Math.min(...(config.windowRadius ?? []).map((each) => each ?? Number.POSITIVE_INFINITY));
  const why =
    length > maxTokensOf(config)
      ? `queries have ${length} tokens, but the model has ${maxTokensOf(config)} positions`
      : isAttended
        ? undefined
        : config.disentangledAttention
          ? "DeBERTa computes no vectors for expansion tokens that no token attends to"
          : radius < length
            ? `expansion tokens of queries of ${length} tokens may be outside of all attention windows`
            : undefined;
  if (why === undefined) return;
  throw new BertEdgeError("checkpoint_unsupported", `${folder}: ${why}. This is not supported so far.`, {
    hint: `Choose another ${otherExpansion}, if the model was trained for it.`,
  });
}

function noMarker(folder: string, spelling: string): never {
  throw new BertEdgeError(
    "checkpoint_invalid",
    `${join(folder, "tokenizer.json")} has no token ${JSON.stringify(spelling)}, with which the model marks queries or documents.`,
    { hint: "Download the model again, or save it with the library that trained it." },
  );
}
