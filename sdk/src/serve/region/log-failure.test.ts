import { expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { logFailure } from "./failure.ts";

const log = errorLog();

it("logs one line with the request and the causes, without stack traces", () => {
  const cause = new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:1") });
  const error = new BertEdgeError("region_failed", "The region at x could not be reached.", {
    hint: "Start it.",
    cause,
  });
  logFailure(error, { trace: { requestId: "r-1" }, next: "Another region is asked." });
  expect(log).toHaveBeenCalledOnce();
  const line = String(log.mock.calls[0]);
  expect(line).not.toContain("\n");
  expect(JSON.parse(line)).toEqual({
    "bert-edge": "region_failed",
    message: "The region at x could not be reached. Another region is asked.",
    hint: "Start it.",
    cause: "fetch failed: connect ECONNREFUSED 127.0.0.1:1",
    requestId: "r-1",
  });
});
