import { expect, it, onTestFinished } from "vitest";
import { named, r2Regions, serviceInFront } from "#test/fixtures/service-habits.ts";
import { smallArtifact } from "#test/fixtures/small-artifact.ts";
import { startStrictObjectStorage } from "#test/fixtures/strict-object-storage.ts";
import { publish } from "./publish.ts";
import { readPointer } from "./published-artifact.ts";
import { s3Store } from "./s3.ts";
import { s3Publisher } from "./s3-publisher.ts";
import { s3Settings } from "./s3-settings.ts";

const role = {
  AWS_REGION: "eu-central-1",
  AWS_ACCESS_KEY_ID: "role",
  AWS_SECRET_ACCESS_KEY: "role-secret",
  AWS_SESSION_TOKEN: "role-token",
};
const own = { S3_ENDPOINT: "https://r2.example", S3_ACCESS_KEY_ID: "own", S3_SECRET_ACCESS_KEY: "own-secret" };

it("uses the role of the AWS function and AWS's endpoint by default", () => {
  expect(s3Settings({ ...role, S3_BUCKET: "models" })).toEqual({
    bucket: "models",
    endpoint: "https://s3.eu-central-1.amazonaws.com",
    region: "eu-central-1",
    accessKeyId: "role",
    secretAccessKey: "role-secret",
    sessionToken: "role-token",
  });
});

it("never combines configured keys with the role's session token", () => {
  expect(s3Settings({ ...role, ...own, S3_BUCKET: "models" })).toEqual({
    bucket: "models",
    endpoint: "https://r2.example",
    region: "eu-central-1",
    accessKeyId: "own",
    secretAccessKey: "own-secret",
  });
});

it("passes the prefix on", () => {
  expect(s3Settings({ ...own, S3_BUCKET: "models", S3_PREFIX: "team-a" })).toMatchObject({ prefix: "team-a" });
});

it.each([
  ["S3_BUCKET", { ...own }],
  ["AWS_REGION", { S3_BUCKET: "models", S3_ACCESS_KEY_ID: "own", S3_SECRET_ACCESS_KEY: "own-secret" }],
  ["S3_ACCESS_KEY_ID", { S3_BUCKET: "models", S3_ENDPOINT: "https://r2.example" }],
  ["S3_SECRET_ACCESS_KEY", { S3_BUCKET: "models", S3_ENDPOINT: "https://r2.example", S3_ACCESS_KEY_ID: "own" }],
])("says that %s is missing", (name, env) => {
  expect(() => s3Settings(env)).toThrow(
    expect.objectContaining({ code: "setting_invalid", message: expect.stringContaining(name) }),
  );
});

const onR2 = { ...role, S3_ACCESS_KEY_ID: "own", S3_SECRET_ACCESS_KEY: "own-secret", S3_BUCKET: "models" };

it("takes the addresses of the AWS SDK, and prefers its own", () => {
  const AWS_ENDPOINT_URL = "https://other.example";
  const AWS_ENDPOINT_URL_S3 = "https://s3.example/models";
  expect(s3Settings({ ...onR2, AWS_ENDPOINT_URL }).endpoint).toBe(AWS_ENDPOINT_URL);
  expect(s3Settings({ ...onR2, AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3 }).endpoint).toBe("https://s3.example");
  const S3_ENDPOINT = "https://own.example";
  expect(s3Settings({ ...onR2, S3_ENDPOINT, AWS_ENDPOINT_URL_S3 }).endpoint).toBe(S3_ENDPOINT);
  expect(() => s3Settings({ ...onR2, AWS_ENDPOINT_URL: "s3.example" })).toThrow(/^AWS_ENDPOINT_URL: /);
});

it.each(["models", "other"])("tells a wrong address when a reader starts, and takes the bucket out: %s", (path) => {
  const settings = () => s3Settings({ ...onR2, S3_ENDPOINT: `https://acc.r2.cloudflarestorage.com/${path}` });
  if (path === "models") expect(settings().endpoint).toBe("https://acc.r2.cloudflarestorage.com");
  else expect(settings).toThrow(/^S3_ENDPOINT: .* has a path other than the bucket models/);
});

it("names AWS_REGION if it is not a region, and takes an empty one for none", () => {
  const [env, S3_ENDPOINT] = [{ ...onR2, AWS_REGION: "eu central" }, "https://own.example"];
  const refused = { code: "setting_invalid", hint: expect.stringContaining("Set AWS_REGION to auto for R2") };
  expect(() => s3Settings(env)).toThrow(expect.objectContaining(refused));
  expect(() => s3Settings({ ...env, S3_ENDPOINT })).toThrow(expect.objectContaining(refused));
  expect(s3Settings({ ...env, S3_ENDPOINT, AWS_REGION: "" }).region).toBe("auto");
});

it("reads R2 where AWS_REGION is set, as on AWS Lambda", async () => {
  const storage = await startStrictObjectStorage();
  onTestFinished(storage.stop);
  const { access } = await serviceInFront(storage, { regions: r2Regions });
  await publish(await smallArtifact("a"), s3Publisher(storage.access));
  const S3_ENDPOINT = named(`${access.endpoint}/${access.bucket}`, "acc.r2.cloudflarestorage.com");
  const reader = s3Store(s3Settings({ ...onR2, S3_BUCKET: access.bucket, S3_ENDPOINT }));
  expect(await readPointer(reader, "small")).toMatchObject({ name: "small" });
  const elsewhere = s3Store(s3Settings({ ...onR2, S3_BUCKET: access.bucket, S3_ENDPOINT: access.endpoint }));
  await expect(readPointer(elsewhere, "small")).rejects.toMatchObject({
    message: expect.stringContaining("the bucket is not in the region eu-central-1, HTTP 400 InvalidRegionName"),
    hint: expect.stringContaining("Correct AWS_REGION (auto for R2"),
  });
});
