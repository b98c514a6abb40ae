import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { preparedTiny } from "#test/fixtures/prepared-tiny.ts";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { named, r2Regions, serviceInFront } from "#test/fixtures/service-habits.ts";
import { startStrictObjectStorage } from "#test/fixtures/strict-object-storage.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { s3Settings } from "../storage/s3-settings.ts";

const R2_HOST = "acc.r2.cloudflarestorage.com";
const BUCKET = "my-models";
const READER = { S3_ACCESS_KEY_ID: "id", S3_SECRET_ACCESS_KEY: "secret" };

beforeEach(() => {
  for (const name of ["AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"]) vi.stubEnv(name, undefined);
  vi.stubEnv("AWS_REGION", "eu-central-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "id");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
});
afterEach(() => vi.unstubAllEnvs());

async function r2() {
  const storage = await startStrictObjectStorage();
  onTestFinished(storage.stop);
  const service = await serviceInFront(storage, { regions: r2Regions });
  return { ...service, endpoint: named(service.access.endpoint, R2_HOST) };
}

async function run(...args: string[]) {
  const { code, stdout, stderr } = await runCommandLine([...args, "--json"]);
  expect(stderr).not.toContain("secret");
  return { code, stderr, json: JSON.parse(stdout) };
}

it("every command of a bucket works on R2 where AWS_REGION is set, with the dashboard's address", async () => {
  const { endpoint, requests } = await r2();
  const place = [`s3://${BUCKET}`, "--endpoint", `${endpoint}/${BUCKET}`];
  const published = await run("publish", await preparedTiny(), "--to", ...place);
  expect(published, published.stderr).toMatchObject({ code: 0, json: { name: "tiny" } });
  const version = `tiny@${published.json.version}`;
  expect(await run("promote", version, "--store", ...place)).toMatchObject({ code: 0 });
  expect(await run("list", "--store", ...place)).toMatchObject({ code: 0, json: [{ name: "tiny", isCurrent: true }] });
  expect(await run("gc", "--store", ...place)).toMatchObject({ code: 0, json: { versions: [] } });
  expect(await run("rollback", "tiny", "--store", ...place)).toMatchObject({
    code: 1,
    json: { error: { code: "model_not_published" } },
  });
  expect(requests.filter((request) => request.includes(`/${BUCKET}/${BUCKET}`))).toEqual([]);
});

it.each(["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"])("reads the endpoint from %s", async (variable) => {
  const { endpoint, access } = await r2();
  vi.stubEnv(variable, `${endpoint}/${BUCKET}`);
  expect(await run("list", "--store", `s3://${BUCKET}`)).toMatchObject({ code: 0, json: [] });
  expect(await run("list", "--store", `s3://${BUCKET}`, "--endpoint", access.endpoint)).toMatchObject({
    code: 1,
    json: { error: { hint: expect.stringContaining("Correct --region (auto for R2") } },
  });
  vi.stubEnv(variable, R2_HOST);
  expect(await run("list", "--store", `s3://${BUCKET}`)).toMatchObject({
    code: 1,
    json: { error: { code: "setting_invalid", hint: `Set ${variable} to https://${R2_HOST}.` } },
  });
  const aws = await run("list", "--store", `s3://${BUCKET}`, "--endpoint", "");
  expect(aws).toMatchObject({ code: 1, json: { error: { code: "setting_invalid" } } });
});

it.each(["--endpoint", "--region", "--single-publisher"])("refuses %s for places that have none", async (option) => {
  const place = `folder:${await temporaryFolder()}`;
  const value = option === "--single-publisher" ? [] : ["x"];
  expect(await run("rollback", "x", "--store", place, option, ...value)).toMatchObject({
    code: 2,
    json: { error: { code: "usage_invalid", hint: expect.stringContaining(`Leave ${option} out`) } },
  });
});

it("publishes to a service without conditional writes only as a single publisher, which it says", async () => {
  const storage = await startStrictObjectStorage();
  onTestFinished(storage.stop);
  const { access } = await serviceInFront(storage, { conditions: "refused" });
  const to = [`s3://${BUCKET}`, "--endpoint", access.endpoint];
  const publish = ["publish", await preparedTiny(), "--to", ...to];
  expect(await run(...publish)).toMatchObject({
    code: 1,
    json: { error: { code: "conditional_writes_missing", hint: expect.stringContaining("with --single-publisher") } },
  });
  const { code, json, stderr } = await run(...publish, "--single-publisher");
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("! --single-publisher: ") });
  const promote = ["promote", `tiny@${json.version}`, "--store", ...to];
  expect(await run(...promote)).toMatchObject({ code: 1, json: { error: { code: "conditional_writes_missing" } } });
  expect(await run(...promote, "--single-publisher")).toMatchObject({ code: 0 });
  expect(await run("gc", "--store", ...to)).toMatchObject({ code: 0 });
});

describe("wrong addresses, buckets and regions", () => {
  const hosts = [
    R2_HOST,
    "acc.eu.r2.cloudflarestorage.com",
    "s3.eu-central-1.amazonaws.com",
    "storage.example.com",
    "127.0.0.1:9000",
  ];
  const faults: readonly ((host: string) => string)[] = [
    (host) => host,
    (host) => `${host}/${BUCKET}`,
    (host) => `https://${host}/other`,
    (host) => `https://${host}/${BUCKET}/team-a`,
    (host) => `https://id:password@${host}`,
    (host) => `https://${host}?bucket=${BUCKET}`,
    (host) => `s3://${host}`,
    (host) => `https//${host}`,
    () => " ",
  ];
  const endpoint = fc
    .tuple(fc.constantFrom(...faults), fc.constantFrom(...hosts))
    .map(([faulty, host]) => ({ endpoint: faulty(host) }));
  const bucket = fc
    .constantFrom("My_Models", "", "ab", "my models", "-models", `https://${R2_HOST}`, `s3://${BUCKET}`)
    .map((bucket) => ({ bucket }));
  const region = fc
    .constantFrom("", "eu central 1", "EU (Frankfurt)", `https://${R2_HOST}`, "eu-central-1\n")
    .map((region) => ({ region }));
  const wrong: { endpoint?: string; bucket?: string; region?: string }[] = fc
    .sample(fc.tuple(endpoint, endpoint, endpoint, bucket, region), { seed: 58, numRuns: 2 })
    .flat();

  it.each(wrong)("are refused by name, with what to do: %j", async ({ endpoint, bucket = BUCKET, region }) => {
    const options = {
      "--endpoint": endpoint ?? `https://${R2_HOST}`,
      ...(region !== undefined && { "--region": region }),
    };
    const { code, json } = await run("list", "--store", `s3://${bucket}`, ...Object.entries(options).flat());
    const { error } = json;
    expect([code, error.code]).toEqual(bucket === BUCKET ? [1, "setting_invalid"] : [2, "usage_invalid"]);
    const named = endpoint !== undefined ? "--endpoint" : region !== undefined ? "--region" : "--store";
    expect(error.message).toContain(named);
    expect(error.hint).toMatch(named === "--store" ? /\S/ : new RegExp(`^Set ${named} to \\S`));
    expect(`${error.message} ${error.hint}`).not.toContain("password");
    // A hint that names an address names a right one.
    const [right] = /https?:\/\/[\w.:-]+\w/.exec(error.hint) ?? [];
    if (right) expect(s3Settings({ ...READER, S3_BUCKET: BUCKET, S3_ENDPOINT: right }).endpoint).toBe(right);
    if (endpoint !== undefined && endpoint.trim() !== "") {
      const reader = () => s3Settings({ ...READER, S3_BUCKET: BUCKET, S3_ENDPOINT: endpoint });
      expect(reader).toThrow(
        expect.objectContaining({ code: "setting_invalid", message: expect.stringContaining("S3_ENDPOINT") }),
      );
    }
  });
});
