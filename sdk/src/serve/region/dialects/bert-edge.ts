import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import { ModelName, ModelVersion } from "../../../artifact/manifest.ts";
import { parseJson } from "../../../artifact/parse-json.ts";
import type { TokenSequence } from "../../../runtime/engine/engine.ts";
import { attendedOf, idsOf, pooledFromOf, secondFromOf } from "../../../runtime/engine/token-sequence.ts";
import { ErrorBody, errorStatus } from "../../contract/errors.ts";
import { QUEUE_HEADER, timingOf } from "../../contract/headers.ts";
import type { OutputsRequest, SequenceJson } from "../../contract/outputs.ts";
import { encodeBytes } from "../../contract/vector-text.ts";
import { checkedOutputs, fault, type RegionDialect, vectorOfBase64 } from "./dialect.ts";

/** Bytes of an answer beyond its outputs: the names of the fields, model, version and usage. */
const ENVELOPE_BYTES = 4_096;
/** Bytes beside each output: quotes, comma, and white space. */
const SEPARATOR_BYTES = 16;

const Answer = v.object({
  model: ModelName,
  version: ModelVersion,
  outputs: v.array(v.string()),
  usage: v.object({ tokens: v.pipe(v.number(), v.integer()) }),
});

/** Maximum characters of a message or hint of the region that callers see. */
const MAX_TEXT = 500;

const DEPLOY_THE_SAME = "Deploy the same version of bert-edge and of the model at the edge and in the region.";

/** A deployment of `createRegionApp`. */
export const bertEdgeDialect: RegionDialect = {
  foreign: undefined,
  path: "v1/outputs",
  probePath: "ready",
  body: ({ inputs, sequences, truncate }, { model }): OutputsRequest => ({
    model,
    ...(sequences
      ? { sequences: sequences.map(sequenceJson) }
      : { inputs: inputs.map((input) => (typeof input === "string" ? input : [...input])), truncate }),
  }),
  // Base64 has 4 characters for 3 bytes.
  maxAnswerBytes: (lengths) =>
    lengths.reduce((sum, length) => sum + 4 * Math.ceil((4 * length) / 3) + SEPARATOR_BYTES, ENVELOPE_BYTES),
  readAnswer(body, expected) {
    const { model, version, lengths } = expected;
    const answer = parseJson(Answer, body, { code: "region_failed", what: "region's answer", hint: DEPLOY_THE_SAME });
    if (answer.model !== model || answer.version !== version) {
      throw fault(
        `serves ${answer.model}@${answer.version}, but the edge serves ${model}@${version}`,
        "Wait a few minutes after a publish. Then check that both tiers serve the same model of the same object store.",
      );
    }
    const { tokens } = answer.usage;
    const [least, most] = [expected.tokens ?? lengths.length, expected.tokens ?? lengths.length * expected.maxTokens];
    if (tokens < least || tokens > most) {
      const counted = least === most ? least : `${least} to ${most}`;
      throw fault(`counted ${tokens} tokens, but the edge counts ${counted}`, DEPLOY_THE_SAME);
    }
    const outputs = checkedOutputs(answer.outputs.map(vectorOfBase64), expected, DEPLOY_THE_SAME);
    return { outputs, tokens, version };
  },
  /** Times that the header server-timing lacks are 0. */
  readReport(headers) {
    const part = (name: string) => timingOf(headers.get("server-timing"), name);
    const waitMs = Number(headers.get(QUEUE_HEADER) ?? Number.NaN);
    const [totalMs, queuedMs, computedMs] = [part("total"), part("queue"), part("compute")];
    return { totalMs, queuedMs, computedMs, waitMs: waitMs >= 0 ? waitMs : undefined };
  },
  faultOf(json, inputs) {
    if (!v.is(ErrorBody, json)) return undefined;
    const { code, message, hint, index } = json.error;
    const isInput = index === undefined ? inputs > 0 : Number.isInteger(index) && index >= 0 && index < inputs;
    if (!isInput || errorStatus[code] !== 400) return undefined;
    return new BertEdgeError(code, message.slice(0, MAX_TEXT), { hint: hint?.slice(0, MAX_TEXT), index });
  },
};

function sequenceJson(sequence: TokenSequence): SequenceJson {
  const ids = idsOf(sequence);
  const [secondFrom, attended, pooledFrom] = [secondFromOf(sequence), attendedOf(sequence), pooledFromOf(sequence)];
  return {
    ids: encodeBytes(ids),
    ...(secondFrom < ids.length && { second_from: secondFrom }),
    ...(attended < ids.length && { attended }),
    ...(pooledFrom > 0 && { pooled_from: pooledFrom }),
  };
}
