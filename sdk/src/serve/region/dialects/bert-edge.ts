import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import { ModelName, ModelVersion } from "../../../artifact/manifest.ts";
import { parseJson } from "../../../artifact/parse-json.ts";
import type { EmbedRequest } from "../../contract/embed.ts";
import { QUEUE_HEADER } from "../../contract/headers.ts";
import { timingOf } from "../../server-timing.ts";
import type { Dialect, ExpectedAnswer, RegionReport, RegionVectors } from "./dialect.ts";
import { faultOfCaller } from "./request-fault.ts";
import { base64Length, checkedVector, fault, vectorOfBase64 } from "./vectors.ts";

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

/** A deployment of `createRegionApp`. */
export const bertEdgeDialect: Dialect = {
  provider: undefined,
  isForeign: false,
  embedPath: "v1/embed",
  probePath: "ready",
  body: ({ texts, truncate, model }): EmbedRequest => ({
    inputs: [...texts],
    truncate,
    model,
    encoding_format: "base64",
  }),
  maxAnswerBytes: (texts, dimensions) => ENVELOPE_BYTES + texts * (base64Length(dimensions) + SEPARATOR_BYTES),
  readAnswer,
  readReport,
  faultOf: faultOfCaller,
};

function readAnswer(body: string, texts: number, expected: ExpectedAnswer): RegionVectors {
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
    throw fault(
      `counted ${tokens} tokens, but the edge counts ${least === most ? least : `${least} to ${most}`}`,
      DEPLOY_THE_SAME,
    );
  }
  if (answer.embeddings.length !== texts) {
    throw fault(`returned ${answer.embeddings.length} vectors for ${texts} texts`, DEPLOY_THE_SAME);
  }
  const vectors = answer.embeddings.map((text, index) =>
    checkedVector(vectorOfBase64(text), { index, dimensions, hasLength1: normalize, hint: DEPLOY_THE_SAME }),
  );
  return { vectors, tokens, version: answer.version };
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
