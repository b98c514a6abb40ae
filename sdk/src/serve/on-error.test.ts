import { globSync, readFileSync } from "node:fs";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { type ErrorCode, errorCodes } from "../artifact/error-codes.ts";
import { errorStatus, type HttpErrorCode } from "./contract/errors.ts";
import { answerError, throwErrors } from "./on-error.ts";

const log = errorLog();

/** Codes that only commands throw: those that publish, sign or read a folder. */
const ofCommands = new Set([
  "artifact_missing",
  "asset_too_large",
  "conditional_writes_missing",
  "hub_model_missing",
  "publish_conflict",
  "signing_key_invalid",
  "signing_key_missing",
]);

/** The codes that loading and running a model can throw, and that are not for callers. */
const thrownByModels = globSync(["artifact", "storage", "runtime"].map((room) => `sdk/src/${room}/**/*.ts`))
  .filter((file) => !/\.test\.ts$|error-codes\.ts$/.test(file))
  .flatMap((file) => readFileSync(file, "utf8").match(/(?<=")[a-z]+(?:_[a-z]+)+(?=")/g) ?? [])
  .filter((code): code is ErrorCode => code in errorCodes && !(code in errorStatus) && !ofCommands.has(code))
  .filter((code, at, all) => all.indexOf(code) === at);

async function answer(error: unknown, path = "/v1/embed") {
  const app = new Hono();
  app.get(path, (c) => answerError(error, c));
  const response = await app.request(path);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe("answerError", () => {
  it.each(Object.entries(errorStatus) as [HttpErrorCode, number][])(
    "shows %s unchanged, with status %d",
    async (code, status) => {
      const { status: answered, text } = await answer(new BertEdgeError(code, "What.", { hint: "How." }));
      expect(answered).toBe(status);
      expect(JSON.parse(text)).toEqual({ error: { code, message: "What.", hint: "How." } });
      expect(log).not.toHaveBeenCalled();
    },
  );

  it("asks for another try only while the model is unavailable", async () => {
    for (const code of ["keys_not_configured", "setting_invalid", "model_unavailable"] as const) {
      const { status, headers } = await answer(new BertEdgeError(code, "What."));
      expect([status, headers.get("retry-after")]).toEqual([503, code === "model_unavailable" ? "1" : null]);
    }
  });

  it("names the input at fault, except in OpenAI's format", async () => {
    const error = new BertEdgeError("input_empty", "What.", { index: 0 });
    expect(JSON.parse((await answer(error)).text).error).toMatchObject({ index: 0 });
    expect(JSON.parse((await answer(error, "/v1/embeddings/")).text).error).toEqual({
      ...{ code: "input_empty", message: "What.", type: "invalid_request_error", param: null },
    });
  });

  it("leaves out a hint that is missing", async () => {
    expect(JSON.parse((await answer(new BertEdgeError("input_empty", "What."))).text)).toEqual({
      error: { code: "input_empty", message: "What." },
    });
  });

  it.each(thrownByModels)("answers %s with model_unavailable, and logs the error", async (code) => {
    const error = new BertEdgeError(code, "SECRET", { hint: "SECRET", cause: new Error("SECRET") });
    const { status, headers, text } = await answer(error);
    expect(status).toBe(503);
    expect(JSON.parse(text)).toMatchObject({ error: { code: "model_unavailable" } });
    expect(text).not.toContain("SECRET");
    expect(headers.get("retry-after")).toBe("1");
    expect(log).toHaveBeenCalledWith(expect.any(String), error);
  });

  it.each([
    ["an error with a code outside the HTTP contract", new BertEdgeError("tensor_shape", "SECRET")],
    ["a failure of the region", new BertEdgeError("region_failed", "SECRET")],
    ["any other Error", new TypeError("SECRET")],
    ["a string", "SECRET"],
    ["undefined", undefined],
  ])("answers %s with internal, and logs it", async (_, error) => {
    const { status, text } = await answer(error);
    expect(status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ error: { code: "internal" } });
    expect(text).not.toContain("SECRET");
    expect(log).toHaveBeenCalledWith(expect.any(String), error);
  });

  it.each(["/v1/embeddings", "/models/small/v1/embeddings"])("answers in OpenAI's format at %s", async (path) => {
    const refused = await answer(new BertEdgeError("input_empty", "What.", { hint: "How." }), path);
    expect(JSON.parse(refused.text)).toEqual({
      error: { code: "input_empty", message: "What. How.", type: "invalid_request_error", param: null },
      detail: "What. How.",
    });
    const failed = await answer(new Error("SECRET"), path);
    expect(JSON.parse(failed.text)).toMatchObject({ error: { code: "internal", type: "server_error", param: null } });
  });
});

describe("throwErrors", () => {
  it.each([["text"], [7], [undefined], [null]])("wraps %j in an Error, which Hono can handle", async (thrown) => {
    const app = new Hono();
    app.onError(answerError);
    app.get("/here", throwErrors, () => Promise.reject(thrown));
    const response = await app.request("/here");
    expect([response.status, await response.json()]).toMatchObject([500, { error: { code: "internal" } }]);
    expect(log).toHaveBeenCalledExactlyOnceWith("bert-edge:", expect.objectContaining({ cause: thrown }));
  });

  it("passes Errors on as they are", async () => {
    const app = new Hono();
    const thrown = new Error("as it is");
    app.onError((error, c) => c.json(error === thrown));
    app.get("/here", throwErrors, () => Promise.reject(thrown));
    expect(await (await app.request("/here")).json()).toBe(true);
  });
});
