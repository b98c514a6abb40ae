import { describe, expect, it } from "vitest";
import { readTrace, traceHeaders } from "./trace.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";
const VALID = `00-${TRACE}-${PARENT}-01`;

const read = (headers: Record<string, string>) => readTrace(new Headers(headers));
const UUID = /^[0-9a-f-]{36}$/;

describe("readTrace", () => {
  it.each(["a", "req_1.2:3-4", "x".repeat(128)])("keeps the request id %j", (id) => {
    expect(read({ "x-request-id": id }).requestId).toBe(id);
  });

  it.each(["", "a b", "x".repeat(129), "a,b", '"a"', "<script>", "ä"])("replaces the request id %j", (id) => {
    expect(read({ "x-request-id": id }).requestId).toMatch(UUID);
  });

  it("makes a new id for every request without one", () => {
    expect(read({}).requestId).not.toBe(read({}).requestId);
  });

  it.each([VALID, `00-${TRACE}-${PARENT}-00`, `cc-${TRACE}-${PARENT}-01`])("keeps the traceparent %s", (traceparent) =>
    expect(read({ traceparent }).traceparent).toBe(traceparent),
  );

  it("drops what later versions add", () => {
    const known = `cc-${TRACE}-${PARENT}-01`;
    expect(read({ traceparent: `${known}-${"more".repeat(1_000)}` }).traceparent).toBe(known);
  });

  it.each([
    "",
    "garbage",
    `ff-${TRACE}-${PARENT}-01`,
    `00-${"0".repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `00-${TRACE}-${PARENT}`,
    `${VALID}, ${VALID}`,
  ])("ignores the traceparent %j", (traceparent) => {
    expect(read({ traceparent }).traceparent).toBeUndefined();
  });
});

describe("traceHeaders", () => {
  it("keeps trace id and flags, and makes a new parent each time", () => {
    const headers = () => traceHeaders({ requestId: "r", traceparent: VALID });
    expect(headers()["x-request-id"]).toBe("r");
    expect(headers()["traceparent"]).toMatch(new RegExp(`^00-${TRACE}-(?!0{16})[0-9a-f]{16}-01$`));
    expect(headers()["traceparent"]).not.toBe(headers()["traceparent"]);
    expect(headers()["traceparent"]).not.toContain(PARENT);
  });

  it("writes version 00 and only the flags that it knows", () => {
    const { traceparent } = traceHeaders({ requestId: "r", traceparent: `cc-${TRACE}-${PARENT}-ff-more` });
    expect(traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-03$`));
  });

  it("sends no traceparent without a valid one", () => {
    expect(traceHeaders({ requestId: "r" })).toEqual({ "x-request-id": "r" });
    expect(traceHeaders({ requestId: "r", traceparent: "x\ny" })).toEqual({ "x-request-id": "r" });
  });
});
