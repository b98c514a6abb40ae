import * as v from "valibot";
import { BertEdgeError } from "../artifact/error.ts";
import { parseJson } from "../artifact/parse-json.ts";
import { decodeFloats } from "./contract/base64.ts";
import { errorStatus, type HttpErrorCode } from "./contract/errors.ts";

export interface ExpectedAnswer {
  readonly model: string;
  /** The version that the edge serves; undefined while the edge is loading the model. */
  readonly version: string | undefined;
  /** The size of the edge's vectors; undefined while the edge is loading the model. */
  readonly dimensions: number | undefined;
  /** Predicted milliseconds of the region's computation, from the model's measurements. */
  readonly computeMs: number;
}

const Answer = v.object({
  model: v.string(),
  version: v.string(),
  embeddings: v.array(v.string()),
  usage: v.object({ tokens: v.number() }),
});
const requestFaults = (Object.keys(errorStatus) as HttpErrorCode[]).filter((code) => errorStatus[code] === 400);
const Refusal = v.object({
  error: v.object({
    code: v.picklist(requestFaults),
    message: v.string(),
    hint: v.optional(v.string()),
    index: v.optional(v.number()),
  }),
});

/**
 * Reads the body of the region's answer.
 *
 * @param texts number of texts in the request
 * @throws BertEdgeError `region_failed` when the answer is malformed, or when its version or vector size differs from
 *   the edge's. Vectors of different versions cannot be compared.
 * @throws an error of `decodeFloats`
 */
export function readAnswer(
  body: string,
  texts: number,
  { model, version, dimensions }: ExpectedAnswer,
): { vectors: Float32Array<ArrayBuffer>[]; tokens: number; version: string } {
  const answer = parseJson(Answer, body, { code: "region_failed", what: "region's answer", hint: "" });
  if (version !== undefined && answer.version !== version) {
    throw new BertEdgeError(
      "region_failed",
      `The region serves ${model}@${answer.version}, but the edge serves ${model}@${version}.`,
      {
        hint: "Wait a few minutes after a publish. Then check that both tiers read the same object store.",
      },
    );
  }
  const vectors = answer.embeddings.map(decodeFloats);
  const width = dimensions ?? vectors[0]?.length;
  if (vectors.length !== texts || vectors.some(({ length }) => length === 0 || length !== width)) {
    throw new BertEdgeError(
      "region_failed",
      `The region did not return one vector of the right size for each of ${texts} texts.`,
      { hint: "Deploy the same version of bert-edge and of the model at the edge and in the region." },
    );
  }
  return { vectors, tokens: answer.usage.tokens, version: answer.version };
}

/**
 * Reads the region's error if the status is 400. Then the request is invalid, and the edge would refuse it too. Returns
 * undefined for any other status.
 *
 * @throws BertEdgeError `region_failed` when the body is malformed
 */
export function readRefusal(status: number, body: string): BertEdgeError | undefined {
  if (status !== 400) return undefined;
  const { error } = parseJson(Refusal, body, { code: "region_failed", what: "region's error", hint: "" });
  return new BertEdgeError(error.code, error.message, { hint: error.hint, index: error.index });
}
