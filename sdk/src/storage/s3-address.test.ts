import { describe, expect, it } from "vitest";
import { r2Endpoint, readerNames, s3Location } from "./s3-address.ts";

const located = (endpoint: string, more: Partial<Parameters<typeof s3Location>[0]> = {}) =>
  s3Location({ endpoint, bucket: "models", ...more }, readerNames);

describe("s3Location", () => {
  it.each([
    ["https://acc.r2.cloudflarestorage.com", "https://acc.r2.cloudflarestorage.com"],
    ["https://acc.r2.cloudflarestorage.com/models", "https://acc.r2.cloudflarestorage.com"],
    ["https://acc.eu.r2.cloudflarestorage.com/models/", "https://acc.eu.r2.cloudflarestorage.com"],
    ["https://models.acc.r2.cloudflarestorage.com", "https://acc.r2.cloudflarestorage.com"],
    ["https://models.s3.eu-central-1.amazonaws.com", "https://s3.eu-central-1.amazonaws.com"],
    [" http://127.0.0.1:9000/models// ", "http://127.0.0.1:9000"],
    ["https://models.example.com", "https://models.example.com"],
    ["https://ref.example.co/storage/v1/s3", "https://ref.example.co/storage/v1/s3"],
    ["https://ref.example.co/storage/v1/s3/models", "https://ref.example.co/storage/v1/s3"],
  ])("takes the bucket out of %s", (endpoint, expected) => {
    expect(located(endpoint).endpoint).toBe(expected);
  });

  it.each([
    ["https://acc.r2.cloudflarestorage.com", "auto"],
    ["https://acc.fedramp.r2.cloudflarestorage.com/models", "auto"],
    ["https://s3.us-west-004.backblazeb2.com", "us-west-004"],
    ["https://s3.dualstack.eu-west-1.amazonaws.com", "eu-west-1"],
    ["https://minio.example.com", "eu-central-1"],
    ["https://r2.example.com", "eu-central-1"],
  ])("signs for the region of %s, whatever AWS_REGION is", (endpoint, region) => {
    expect(located(endpoint, { otherwise: "eu-central-1" }).region).toBe(region);
    expect(located(endpoint, { otherwise: "eu-central-1", region: "own" }).region).toBe("own");
  });

  it.each([
    ["acc.r2.cloudflarestorage.com/models", "Set S3_ENDPOINT to https://acc.r2.cloudflarestorage.com."],
    ["localhost:9000/models", "Set S3_ENDPOINT to http://localhost:9000."],
    ["127.0.0.1:9000", "Set S3_ENDPOINT to http://127.0.0.1:9000."],
    ["s3://models", "Set S3_ENDPOINT to https://<account>.r2.cloudflarestorage.com."],
    ["", "Set S3_ENDPOINT to https://<account>.r2.cloudflarestorage.com."],
    ["https://acc.r2.cloudflarestorage.com/other", "without a path. Name the bucket in S3_BUCKET."],
    ["https://acc.r2.cloudflarestorage.com/a/b/c", "without a path"],
    ["https://s3.eu-central-1.amazonaws.com/a/b", "without a path"],
    ["http://127.0.0.1:9000/other", "Set S3_ENDPOINT to http://127.0.0.1:9000, without a path"],
    ["http://127.0.0.1:9000/models/prefix", "without a path"],
    ["https://id:password@storage.example.com", "Set S3_ENDPOINT to https://storage.example.com."],
    ["https://storage.example.com?x=1", "Set S3_ENDPOINT to https://storage.example.com."],
  ])("refuses the endpoint %s by name", (endpoint, hint) => {
    const refused = { code: "setting_invalid", hint: expect.stringContaining(hint) };
    expect(() => located(endpoint)).toThrow(expect.objectContaining(refused));
    expect(() => located(endpoint)).toThrow(/^S3_ENDPOINT: "(?!.*password)/);
  });

  it.each(["", "s3://models", "models/team-a", "my models", ".."])("refuses the bucket %j by name", (bucket) => {
    expect(() => located("https://storage.example.com", { bucket })).toThrow(/^S3_BUCKET: /);
  });

  it.each(["", "eu central", "https://s3.eu-central-1.amazonaws.com"])("refuses the region %j by name", (region) => {
    expect(() => located("https://storage.example.com", { region })).toThrow(/^AWS_REGION: /);
  });
});

it("r2Endpoint names the jurisdiction of a bucket", () => {
  expect(r2Endpoint("acc")).toBe("https://acc.r2.cloudflarestorage.com");
  expect(r2Endpoint("acc", "eu")).toBe("https://acc.eu.r2.cloudflarestorage.com");
});
