import { expect, it } from "vitest";
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
