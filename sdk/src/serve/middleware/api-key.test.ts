import fc from "fast-check";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { keyRing } from "../keys/key-ring.ts";
import { answerError } from "../on-error.ts";
import { apiKey } from "./api-key.ts";

function appWith(keys: readonly string[]) {
  const app = new Hono();
  app.onError(answerError);
  app.use(apiKey(keyRing(() => keys)));
  app.get("/here", (c) => c.text("in"));
  return app;
}

async function outcome(keys: readonly string[], authorization?: string): Promise<string> {
  const response = await appWith(keys).request("/here", {
    headers: authorization === undefined ? {} : { authorization },
  });
  if (response.ok) return response.text();
  const { error } = (await response.json()) as { error: { code: string } };
  return `${response.status} ${error.code}`;
}

const key = fc.stringMatching(/^[!-~]{1,40}$/).filter((text) => !/sha256:|^#|[{}[\]<>",]/i.test(text));

describe("apiKey", () => {
  it.each([
    ["in", ["one", "two"], "Bearer one"],
    ["in", ["one", "two"], "Bearer two"],
    ["in", ["one"], "bearer   one  "],
    ["401 key_missing", ["one"], undefined],
    ["401 key_missing", ["one"], ""],
    ["401 key_missing", ["one"], "one"],
    ["401 key_missing", ["one"], "Bearer"],
    ["401 key_missing", ["one"], "Bearer "],
    ["401 key_missing", ["one"], "Basic b25l"],
    ["401 key_missing", ["one"], "Bearer one two"],
    ["401 key_wrong", ["one"], "Bearer on"],
    ["401 key_wrong", ["one"], "Bearer onee"],
    ["401 key_wrong", ["one"], "Bearer ONE"],
    ["401 key_wrong", ["one", "two"], "Bearer one,two"],
    ["503 keys_not_configured", [], "Bearer one"],
  ])("answers %s when the keys are %j and the header is %j", async (expected, keys, authorization) => {
    expect(await outcome(keys, authorization)).toBe(expected);
  });

  it.each([
    [200, "one", undefined],
    [200, " one ", "AWS4-HMAC-SHA256 Credential=AKIA"],
    [200, "of a gateway", "Bearer one"],
    [401, "wrong", undefined],
    [200, "", "Bearer one"],
    [401, "", undefined],
  ])("answers %d when x-api-key is %j and authorization is %j", async (status, key, authorization) => {
    const headers = { "x-api-key": key, ...(authorization && { authorization }) };
    expect((await appWith(["one"]).request("/here", { headers })).status).toBe(status);
  });

  it("treats empty keys as missing", async () => {
    for (const setting of ["", " ", ",", "\n"]) {
      expect(await outcome(setting.split(","), "Bearer x")).toBe("503 keys_not_configured");
    }
  });

  it("accepts keys from a list with spaces, newlines and a final comma", async () => {
    const keys = "one, two,\nthree\n,".split(",");
    for (const known of ["one", "two", "three"]) expect(await outcome(keys, `Bearer ${known}`)).toBe("in");
  });

  it("accepts exactly the configured keys", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(key, { minLength: 1, maxLength: 4 }), key, async (keys, tried) => {
        expect(await outcome(keys, `Bearer ${tried}`)).toBe(keys.includes(tried) ? "in" : "401 key_wrong");
        expect(await outcome(keys, `Bearer ${keys[0]}`)).toBe("in");
      }),
      { numRuns: 50 },
    );
  });

  it("names the authentication scheme, and shows no key", async () => {
    const response = await appWith(["topsecret"]).request("/here");
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await response.text()).not.toContain("topsecret");
  });
});
