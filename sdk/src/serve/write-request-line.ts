import type { RequestLine } from "./middleware/log-request.ts";

/** A dataset of Cloudflare's Analytics Engine: https://developers.cloudflare.com/analytics/analytics-engine/ */
export interface AnalyticsDataset {
  writeDataPoint(point: { indexes: string[]; blobs: string[]; doubles: number[] }): void;
}

/** Prints a request as one line of JSON, which log services can search. Times have one decimal. */
export const printRequestLine = (describe: () => RequestLine): void =>
  console.log(
    JSON.stringify({ "bert-edge": "request", ...describe() }, (_, value) =>
      typeof value === "number" ? Math.round(value * 10) / 10 : value,
    ),
  );

/**
 * Writes a request as a point: index1 is the key's name; blob1 to blob8 are route, method, error, tier, reason, model, request
 * id and traceparent; double1 to double6 are status, texts, tokens, elapsed, queue and compute milliseconds. Fields without a
 * value are empty or 0.
 */
function writeDataPoint(dataset: AnalyticsDataset, line: RequestLine): void {
  const { route, method, error, tier, reason, model, requestId, traceparent, timings = {} } = line;
  const { key = "", status, texts = 0, tokens = 0, elapsedMs } = line;
  dataset.writeDataPoint({
    indexes: [key],
    blobs: [route, method, error, tier, reason, model, requestId, traceparent].map((text) => text ?? ""),
    doubles: [status, texts, tokens, elapsedMs, timings["queue"] ?? 0, timings["compute"] ?? 0],
  });
}

/** Makes a writer of points. Without a dataset in the environment, it writes none. */
export const analyticsWriter =
  <Env>(dataset: (env: Env) => AnalyticsDataset | undefined) =>
  (describe: () => RequestLine, env: Env): void => {
    const found = dataset(env);
    if (found) writeDataPoint(found, describe());
  };
