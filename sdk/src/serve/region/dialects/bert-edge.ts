import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import { ModelName, ModelVersion } from "../../../artifact/manifest.ts";
import { parseJson } from "../../../artifact/parse-json.ts";
import type { TokenSequence } from "../../../runtime/engine/engine.ts";
import { attendedOf, idsOf, pooledFromOf, secondFromOf } from "../../../runtime/engine/token-sequence.ts";
import { encodeBytes } from "../../contract/base64.ts";
import { QUEUE_HEADER, timingOf } from "../../contract/headers.ts";
import type { OutputsRequest, SequenceJson } from "../../contract/outputs.ts";
import type { ExpectedAnswer } from "../expected-answer.ts";
import {
  base64Length,
  checkedOutput,
  fault,
  faultOfCaller,
  type RegionDialect,
  type RegionOutputs,
  type RegionReport,
  vectorOfBase64,
} from "./dialect.ts";

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

/** A deployment of `createRegionApp`. */
export const bertEdgeDialect: RegionDialect = {
  provider: undefined,
  isForeign: false,
  path: "v1/outputs",
  probePath: "ready",
  body: ({ inputs, sequences, truncate, model }): OutputsRequest => ({
    model,
    ...(sequences
      ? { sequences: sequences.map(sequenceJson) }
      : { inputs: inputs.map((input) => (typeof input === "string" ? input : [...input])), truncate }),
  }),
  maxAnswerBytes: (lengths) =>
    lengths.reduce((sum, length) => sum + base64Length(length) + SEPARATOR_BYTES, ENVELOPE_BYTES),
  readAnswer,
  readReport,
  faultOf: faultOfCaller,
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

function readAnswer(body: string, expected: ExpectedAnswer): RegionOutputs {
  const { model, version, lengths, norm } = expected;
  const answer = parseJson(Answer, body, { code: "region_failed", what: "region's answer", hint: DEPLOY_THE_SAME });
  const served = `${answer.model}@${answer.version}`;
  if (answer.model !== model || answer.version !== version) {
    throw new BertEdgeError("region_failed", `The region serves ${served}, but the edge serves ${model}@${version}.`, {
      hint: "Wait a few minutes after a publish. Then check that both tiers serve the same model of the same object store.",
    });
  }
  const texts = lengths.length;
  const { tokens } = answer.usage;
  const [least, most] = [expected.tokens ?? texts, expected.tokens ?? texts * expected.maxTokens];
  if (tokens < least || tokens > most) {
    throw fault(
      `counted ${tokens} tokens, but the edge counts ${least === most ? least : `${least} to ${most}`}`,
      DEPLOY_THE_SAME,
    );
  }
  if (answer.outputs.length !== texts) {
    throw fault(`returned ${answer.outputs.length} vectors for ${texts} texts`, DEPLOY_THE_SAME);
  }
  const outputs = answer.outputs.map((text, index) =>
    checkedOutput(vectorOfBase64(text), { index, length: lengths[index] as number, norm, hint: DEPLOY_THE_SAME }),
  );
  return { outputs, tokens, version: answer.version };
}

/** Reads the region's report from the headers of a response. Parts that are missing are 0, and none exceeds the fetch. */
function readReport(headers: Headers, tookMs: number): RegionReport {
  const timing = headers.get("server-timing");
  const part = (name: string) => Math.min(tookMs, timingOf(timing, name));
  const [queuedMs, computedMs] = [part("queue"), part("compute")];
  const waitMs = Number(headers.get(QUEUE_HEADER) ?? Number.NaN);
  return {
    totalMs: Math.max(part("total"), computedMs),
    queuedMs,
    computedMs,
    waitMs: waitMs >= 0 ? waitMs : queuedMs,
  };
}

const DEPLOY_THE_SAME = "Deploy the same version of bert-edge and of the model at the edge and in the region.";
