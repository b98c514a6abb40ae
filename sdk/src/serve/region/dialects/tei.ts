import * as v from "valibot";
import { parseJson } from "../../../artifact/parse-json.ts";
import {
  foreignVectors,
  maxBytesOfNumbers,
  type RegionDialect,
  type RegionReport,
  requestRefused,
  SERVE_THE_SAME,
  vectorOfNumbers,
} from "./dialect.ts";

const Answer = v.array(v.unknown());
/** Faults of the request. `Backend`, `Overloaded` and `Unhealthy` are those of the server. */
const Fault = v.object({ error: v.string(), error_type: v.picklist(["Validation", "Tokenizer", "Empty"]) });

/** text-embeddings-inference: https://huggingface.github.io/text-embeddings-inference */
export const teiDialect: RegionDialect = {
  provider: "tei",
  isForeign: true,
  path: "embed",
  probePath: "health",
  // A server with a lower maximum of tokens must refuse a text, not cut it.
  body: ({ inputs, normalize }) => ({ inputs, truncate: false, normalize }),
  maxAnswerBytes: maxBytesOfNumbers,
  readAnswer(body, expected) {
    const answer = parseJson(Answer, body, { code: "region_failed", what: "region's answer", hint: SERVE_THE_SAME });
    return foreignVectors(answer.map(vectorOfNumbers), expected);
  },
  readReport,
  faultOf(json) {
    const parsed = v.safeParse(Fault, json);
    return parsed.success ? requestRefused(parsed.output.error) : undefined;
  },
};

/** TEI reports whole milliseconds, without their fraction. On average, half a millisecond is missing. */
const MEAN_FRACTION_MS = 0.5;

function readReport(headers: Headers, tookMs: number): RegionReport | undefined {
  const part = (name: string) => {
    const ms = Number.parseInt(headers.get(name) ?? "", 10);
    return ms >= 0 ? Math.min(tookMs, ms + MEAN_FRACTION_MS) : undefined;
  };
  const [totalMs, computedMs, queuedMs = 0] = [part("x-total-time"), part("x-inference-time"), part("x-queue-time")];
  if (totalMs === undefined || computedMs === undefined) return undefined;
  return { totalMs: Math.max(totalMs, computedMs), queuedMs, computedMs, waitMs: queuedMs };
}
