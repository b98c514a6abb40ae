import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { type RegionEnv, regionFromEnv } from "./region.ts";

const ai = { run: async () => new Response() };
const url = "https://region.example.com";

describe("regionFromEnv", () => {
  it.each<RegionEnv>([{}, { REGION_URL: "" }, { AI: ai }, { REGION_MODEL: "m" }, { REGION_KEY: "k" }])(
    "finds no region in %j",
    (env) => expect(regionFromEnv(env)).toBeUndefined(),
  );

  it.each<RegionEnv>([
    { REGION_URL: url, REGION_KEY: "k" },
    { REGION_URL: url, REGION_DIALECT: "tei" },
    { REGION_URL: url, REGION_DIALECT: "openai", REGION_MODEL: "m" },
    { REGION_URL: url, REGION_AWS_ACCESS_KEY_ID: "a", REGION_AWS_SECRET_ACCESS_KEY: "s" },
    { AI: ai, REGION_MODEL: "@cf/m", REGION_POOLING: "cls" },
  ])("finds the region in %j", (env) => expect(regionFromEnv(env)).toMatchObject({ connect: expect.any(Function) }));

  it.each<[string, object]>([
    ["REGION_URL", { REGION_URL: "x", REGION_KEY: "S3CR3T" }],
    ["REGION_KEY", { REGION_URL: url }],
    ["REGION_DIALECT", { REGION_URL: url, REGION_KEY: "S3CR3T", REGION_DIALECT: "grpc" }],
    ["REGION_MODEL", { REGION_URL: url, REGION_KEY: "S3CR3T", REGION_DIALECT: "openai" }],
    ["REGION_AWS_SECRET_ACCESS_KEY", { REGION_URL: url, REGION_AWS_ACCESS_KEY_ID: "S3CR3T" }],
    [
      "REGION_AWS_REGION",
      {
        REGION_URL: url,
        REGION_AWS_ACCESS_KEY_ID: "a",
        REGION_AWS_SECRET_ACCESS_KEY: "s",
        REGION_AWS_REGION: "S3CR3T x",
      },
    ],
    ["REGION_POOLING", { AI: ai, REGION_MODEL: "S3CR3T", REGION_POOLING: "max" }],
  ])("names %s when it is wrong, and no values", (setting, env) => {
    const found = () => regionFromEnv(env);
    expect(found).toThrow(
      expect.objectContaining({ code: "setting_invalid", message: expect.stringContaining(setting) }),
    );
    try {
      found();
    } catch (error) {
      expect(inspect(error)).not.toContain("S3CR3T");
    }
  });
});
