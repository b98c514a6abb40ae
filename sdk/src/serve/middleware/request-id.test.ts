import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { answerError } from "../on-error.ts";
import { requestId } from "../operations.ts";
import { noted } from "./variables.ts";

errorLog();
const app = new Hono();
app.onError(answerError);
app.use(requestId);
app.get("/", (c) => c.json(noted(c, "trace")));
app.get("/error", () => {
  throw new Error("inside");
});

describe("requestId", () => {
  it("keeps the caller's names", async () => {
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const response = await app.request("/", { headers: { "x-request-id": "r-1", traceparent } });
    expect(response.headers.get("x-request-id")).toBe("r-1");
    expect(await response.json()).toEqual({ requestId: "r-1", traceparent });
  });

  it("names requests without a valid id", async () => {
    const response = await app.request("/", { headers: { "x-request-id": "no id" } });
    const id = response.headers.get("x-request-id");
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await response.json()).toEqual({ requestId: id });
  });

  it("names errors too", async () => {
    const response = await app.request("/error", { headers: { "x-request-id": "r-2" } });
    expect([response.status, response.headers.get("x-request-id")]).toEqual([500, "r-2"]);
  });
});
