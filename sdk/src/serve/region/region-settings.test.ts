import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { BertEdgeError } from "../../artifact/error.ts";
import {
  type HttpRegionAddress,
  type HttpRegionSettings,
  type RegionAddress,
  regionSettings,
} from "./region-settings.ts";

const good: HttpRegionAddress = { url: "https://region.example.com", key: "key" };
const aws = { accessKeyId: "AKIA", secretAccessKey: "secret", region: "eu-central-1" };
const SECRET = "S3CR3T";

const httpSettings = (address: Partial<HttpRegionAddress>) =>
  regionSettings({ ...good, ...address }) as HttpRegionSettings;

function refusalOf(address: object): BertEdgeError {
  try {
    regionSettings({ ...good, ...address } as RegionAddress);
  } catch (error) {
    expect(error).toBeInstanceOf(BertEdgeError);
    return error as BertEdgeError;
  }
  throw new Error("The settings were accepted.");
}

describe("regionSettings", () => {
  it.each([
    ["https://region.example.com", "https://region.example.com/"],
    ["  https://region.example.com\n", "https://region.example.com/"],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080/"],
    ["https://example.com/a/b", "https://example.com/a/b/"],
    ["https://example.com/a/b/", "https://example.com/a/b/"],
  ])("reads the URL %j", (url, base) => {
    expect(httpSettings({ url }).base.href).toBe(base);
  });

  it.each([
    ["", "complete URL"],
    [" ", "complete URL"],
    [undefined, "complete URL"],
    ["region.example.com", "complete URL"],
    [`https://${SECRET} .com`, "complete URL"],
    ["javascript:1", "http or https"],
    ["data:text/plain,x", "http or https"],
    ["ftp://region.example.com", "http or https"],
    ["file:///etc/passwd", "http or https"],
    [`https://user:${SECRET}@region.example.com`, "credentials"],
    [`https://${SECRET}@region.example.com`, "credentials"],
    [`https://region.example.com/p?token=${SECRET}`, "query"],
    [`https://region.example.com/#${SECRET}`, "fragment"],
  ])("refuses the URL %j, names REGION_URL and shows no value", (url, fault) => {
    const error = refusalOf({ url });
    expect(error).toMatchObject({ code: "setting_invalid", message: expect.stringContaining(fault) });
    expect(error.message).toContain("REGION_URL");
    expect(inspect(error)).not.toContain(SECRET);
  });

  it("ignores white space around the key", () => {
    expect(httpSettings({ key: " key\r\n" }).key).toBe("key");
  });

  it.each(["", " ", undefined, `${SECRET}\nx`, `${SECRET} x`, `${SECRET}\0`, `${SECRET}ä`, `${SECRET}\u2028x`])(
    "refuses the key %j, names REGION_KEY and shows no value",
    (key) => {
      const error = refusalOf({ key });
      expect(error).toMatchObject({ code: "setting_invalid", message: expect.stringContaining("REGION_KEY") });
      expect(inspect(error)).not.toContain(SECRET);
    },
  );

  it("takes no key when AWS checks the signature", () => {
    expect(regionSettings({ ...good, key: "", aws })).toMatchObject({ key: "", aws: { ...aws, service: "lambda" } });
  });

  it("takes the AWS region from the function's URL", () => {
    const { region: _, ...keys } = aws;
    expect(httpSettings({ aws: keys }).aws).toEqual({ ...keys, service: "lambda" });
  });

  it.each([
    ["accessKeyId", "REGION_AWS_ACCESS_KEY_ID"],
    ["secretAccessKey", "REGION_AWS_SECRET_ACCESS_KEY"],
    ["region", "REGION_AWS_REGION"],
  ])("refuses AWS access with an unusable %s", (field, setting) => {
    for (const value of ["", `${SECRET}\n${SECRET}`]) {
      const error = refusalOf({ aws: { ...aws, [field]: value } });
      expect(error).toMatchObject({ code: "setting_invalid", message: expect.stringContaining(setting) });
      expect(inspect(error)).not.toContain(SECRET);
    }
  });

  describe("of foreign regions", () => {
    const ai = { run: async () => new Response() };

    it("need no key", () => {
      expect(regionSettings({ dialect: "tei", url: good.url })).toMatchObject({
        dialect: "tei",
        key: "",
        maxInputs: 32,
      });
      expect(httpSettings({ dialect: "openai", model: " m ", maxInputs: 256 })).toMatchObject({
        ...{ key: "key", model: "m", maxInputs: 256 },
      });
    });

    it("name a model of Workers AI", () => {
      const address = { dialect: "workers-ai", ai, model: "@cf/baai/bge-small-en-v1.5" } as const;
      expect(regionSettings(address)).toEqual({ ...address, pooling: undefined, maxInputs: 100 });
      expect(regionSettings({ ...address, pooling: "cls" as const })).toMatchObject({ pooling: "cls" });
    });

    it.each([
      [{ dialect: "grpc" }, "REGION_DIALECT"],
      [{ dialect: "" }, "REGION_DIALECT"],
      [{ dialect: "openai" }, "REGION_MODEL"],
      [{ dialect: "openai", model: `a ${SECRET}` }, "REGION_MODEL"],
      [{ dialect: "tei", key: `${SECRET}\n${SECRET}` }, "REGION_KEY"],
      [{ dialect: "tei", aws: { ...aws, service: "sagemaker" } }, "REGION_DIALECT"],
      [{ aws: { ...aws, service: `x\n${SECRET}` } }, "REGION_AWS_SERVICE"],
      [{ dialect: "tei", maxInputs: 0 }, "maxInputs"],
      [{ dialect: "tei", maxInputs: 1.5 }, "maxInputs"],
      [{ dialect: "workers-ai", model: "m" }, "`ai`"],
      [{ dialect: "workers-ai", model: "m", ai: {} }, "`ai`"],
      [{ dialect: "workers-ai", ai }, "REGION_MODEL"],
      [{ dialect: "workers-ai", ai, model: "m", pooling: "max" }, "REGION_POOLING"],
      [{ dialect: "workers-ai", ai, model: "m", maxInputs: -1 }, "maxInputs"],
    ])("refuses %j, and names the setting without its value", (address, setting) => {
      const error = refusalOf(address);
      expect(error).toMatchObject({ code: "setting_invalid", message: expect.stringContaining(setting) });
      expect(inspect(error)).not.toContain(SECRET);
    });
  });
});
