import { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BertEdgeError } from "../../artifact/error.ts";
import { errorStatus, type HttpErrorCode } from "../contract/errors.ts";
import { type Dialect, errorResponse } from "./on-error.ts";

const log = vi.spyOn(console, "error");
beforeEach(() => void log.mockReset().mockReturnValue(undefined));
afterEach(() => void log.mockReset());

async function answer(error: unknown, dialect: Dialect = "own") {
  const app = new Hono();
  app.get("/", (c) => errorResponse(c, error, dialect));
  const response = await app.request("/");
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe("errorResponse", () => {
  it.each(Object.entries(errorStatus) as [HttpErrorCode, number][])(
    "shows %s as it is, with HTTP %d",
    async (code, status) => {
      const { status: answered, text } = await answer(new BertEdgeError(code, "What.", { hint: "How." }));
      expect(answered).toBe(status);
      expect(JSON.parse(text)).toEqual({ error: { code, message: "What.", hint: "How." } });
      expect(log).not.toHaveBeenCalled();
    },
  );

  it("leaves the hint out when there is none", async () => {
    expect(JSON.parse((await answer(new BertEdgeError("input_empty", "What."))).text)).toEqual({
      error: { code: "input_empty", message: "What." },
    });
  });

  it.each([
    "artifact_corrupt",
    "engine_failed",
    "memory_full",
    "model_invalid",
    "model_version",
    "manifest_invalid",
    "model_not_published",
    "pointer_invalid",
    "session_released",
    "storage_unavailable",
    "target_missing",
  ] as const)("says of %s only that the model is unavailable, and logs the rest", async (code) => {
    const error = new BertEdgeError(code, "SECRET", { hint: "SECRET", cause: new Error("SECRET") });
    const { status, headers, text } = await answer(error);
    expect(status).toBe(503);
    expect(JSON.parse(text)).toMatchObject({ error: { code: "model_unavailable" } });
    expect(text).not.toContain("SECRET");
    expect(headers.get("retry-after")).toBe("1");
    expect(log).toHaveBeenCalledWith(expect.any(String), error);
  });

  it.each([
    ["a code that is not in the contract", new BertEdgeError("tensor_shape", "SECRET")],
    ["the inside of the region's failure", new BertEdgeError("region_failed", "SECRET")],
    ["any other Error", new TypeError("SECRET")],
    ["a string", "SECRET"],
    ["nothing", undefined],
  ])("says of %s only that something went wrong, and logs it", async (_, error) => {
    const { status, text } = await answer(error);
    expect(status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ error: { code: "internal" } });
    expect(text).not.toContain("SECRET");
    expect(log).toHaveBeenCalledWith(expect.any(String), error);
  });

  it("speaks OpenAI's dialect: type and param, and the hint in the message", async () => {
    const refused = await answer(new BertEdgeError("input_empty", "What.", { hint: "How." }), "openai");
    expect(JSON.parse(refused.text)).toEqual({
      error: { code: "input_empty", message: "What. How.", type: "invalid_request_error", param: null },
    });
    const failed = await answer(new Error("SECRET"), "openai");
    expect(JSON.parse(failed.text)).toMatchObject({ error: { code: "internal", type: "server_error", param: null } });
  });
});
