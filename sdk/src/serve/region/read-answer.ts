import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { ModelName, ModelVersion } from "../../artifact/manifest.ts";
import { parseJson } from "../../artifact/parse-json.ts";
import { decodeFloats } from "../contract/base64.ts";

/** The answer that the edge itself would give, as far as the edge knows it. */
export interface ExpectedAnswer {
  readonly model: string;
  /** The version that the edge serves. */
  readonly version: string;
  /** Size of the model's vectors. */
  readonly dimensions: number;
  /** Whether the model's vectors have the length 1. */
  readonly normalize: boolean;
  /** Tokens of all texts together; undefined if the edge has not tokenized them. */
  readonly tokens?: number | undefined;
  /** Maximum tokens of a text. */
  readonly maxTokens: number;
  /** Predicted milliseconds of the region's computation, from the model's measurements. */
  readonly computeMs: number;
}

/** Rounding errors of a vector of thousands of float32 numbers change its length by less than this. */
const NORM_TOLERANCE = 1e-3;

/** Bytes of an answer beyond its vectors: the names of the fields, model, version and usage. */
const ENVELOPE_BYTES = 4_096;
/** Bytes beside each vector: quotes, comma, and white space. */
const SEPARATOR_BYTES = 16;

const Answer = v.object({
  model: ModelName,
  version: ModelVersion,
  embeddings: v.array(v.string()),
  usage: v.object({ tokens: v.pipe(v.number(), v.integer()) }),
});

/** Characters of a vector as base64. */
const base64Length = (dimensions: number): number => 4 * Math.ceil((4 * dimensions) / 3);

/** Returns the largest size of an answer for `texts` texts, in bytes. */
export const maxAnswerBytes = (texts: number, dimensions: number): number =>
  ENVELOPE_BYTES + texts * (base64Length(dimensions) + SEPARATOR_BYTES);

/**
 * Reads the body of the region's answer, and checks everything in it that the edge can check.
 *
 * @param texts number of texts in the request
 * @throws BertEdgeError `region_failed` when the answer is not the one that the edge would give
 */
export function readAnswer(
  body: string,
  texts: number,
  expected: ExpectedAnswer,
): { vectors: Float32Array<ArrayBuffer>[]; tokens: number; version: string } {
  const { model, version, dimensions, normalize } = expected;
  const answer = parseJson(Answer, body, { code: "region_failed", what: "region's answer", hint: DEPLOY_THE_SAME });
  const served = `${answer.model}@${answer.version}`;
  if (answer.model !== model || answer.version !== version) {
    throw new BertEdgeError("region_failed", `The region serves ${served}, but the edge serves ${model}@${version}.`, {
      hint: "Wait a few minutes after a publish. Then check that both tiers serve the same model of the same object store.",
    });
  }
  const { tokens } = answer.usage;
  const [least, most] = [expected.tokens ?? texts, expected.tokens ?? texts * expected.maxTokens];
  if (tokens < least || tokens > most) {
    throw fault(`counted ${tokens} tokens, but the edge counts ${least === most ? least : `${least} to ${most}`}`);
  }
  if (answer.embeddings.length !== texts) {
    throw fault(`returned ${answer.embeddings.length} vectors for ${texts} texts`);
  }
  const vectors = answer.embeddings.map((text, index) => readVector(text, index, dimensions, normalize));
  return { vectors, tokens, version: answer.version };
}

function readVector(text: string, index: number, dimensions: number, normalize: boolean): Float32Array<ArrayBuffer> {
  const vector = text.length === base64Length(dimensions) ? decoded(text) : undefined;
  if (vector?.length !== dimensions) throw fault(`returned no vector of ${dimensions} dimensions for text ${index}`);
  const norm = Math.hypot(...vector);
  if (!Number.isFinite(norm)) throw fault(`returned a vector with NaN or infinite values for text ${index}`);
  if (normalize ? Math.abs(norm - 1) > NORM_TOLERANCE : norm === 0) {
    throw fault(`returned a vector of the length ${norm} for text ${index}`);
  }
  return vector;
}

function decoded(text: string): Float32Array<ArrayBuffer> | undefined {
  try {
    return decodeFloats(text);
  } catch {
    return undefined;
  }
}

const DEPLOY_THE_SAME = "Deploy the same version of bert-edge and of the model at the edge and in the region.";

const fault = (what: string): BertEdgeError =>
  new BertEdgeError("region_failed", `The region ${what}.`, { hint: DEPLOY_THE_SAME });
