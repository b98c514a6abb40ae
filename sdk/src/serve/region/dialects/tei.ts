import * as v from "valibot";
import { foreignDialect, Vector } from "./dialect.ts";

/** TEI reports whole milliseconds, without their fraction. On average, half a millisecond is missing. */
const MEAN_FRACTION_MS = 0.5;

/** text-embeddings-inference: https://huggingface.github.io/text-embeddings-inference */
export const teiDialect = foreignDialect({
  foreign: "tei",
  path: "embed",
  probePath: "health",
  // `truncate: false`: a server with a lower maximum of tokens must refuse a longer text, not cut it.
  body: ({ inputs }, { norm }) => ({ inputs, truncate: false, normalize: norm === "one" }),
  answer: v.array(Vector),
  // TEI's other error types (`Backend`, `Overloaded` and `Unhealthy`) are faults of the server.
  refusal: v.pipe(
    v.object({ error: v.string(), error_type: v.picklist(["Validation", "Tokenizer", "Empty"]) }),
    v.transform(({ error }) => error),
  ),
  readReport(headers) {
    const part = (name: string) => {
      const ms = Number.parseInt(headers.get(name) ?? "", 10);
      return ms >= 0 ? ms + MEAN_FRACTION_MS : undefined;
    };
    const [totalMs, computedMs, queuedMs = 0] = [part("x-total-time"), part("x-inference-time"), part("x-queue-time")];
    return totalMs === undefined || computedMs === undefined ? undefined : { totalMs, queuedMs, computedMs };
  },
});
