import { cp, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { regionCalls } from "#sdk/cli/deploy/region-calls.ts";
import { serve } from "../fixtures/serve.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";

const outputs = {
  RegionLambdaFunctionUrl: "https://abc.lambda-url.eu-central-1.on.aws/",
  ModelBucketName: "bert-edge-dev-modelbucket-1",
  EdgeUserName: "bert-edge-dev-EdgeUser-1",
};
const member = ([key, value]: readonly string[]) =>
  `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`;
const noStack =
  "<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id bert-edge-dev does not exist</Message></Error></ErrorResponse>";

/** Speaks as CloudFormation does to `osls info`. */
const cloudFormation = (isThere: boolean) =>
  serve(async (request, response) => {
    const action = new URLSearchParams(await text(request)).get("Action");
    const stack = `<StackName>bert-edge-dev</StackName><StackStatus>UPDATE_COMPLETE</StackStatus><CreationTime>2026-01-01T00:00:00Z</CreationTime><Outputs>${Object.entries(outputs).map(member).join("")}</Outputs>`;
    const result = action === "DescribeStacks" ? `<Stacks><member>${stack}</member></Stacks>` : "";
    response.writeHead(isThere ? 200 : 400, { "content-type": "text/xml" });
    response.end(
      isThere ? `<${action}Response><${action}Result>${result}</${action}Result></${action}Response>` : noStack,
    );
  });

/** Makes a project whose osls is the real one. */
async function project(): Promise<string> {
  const root = await temporaryFolder();
  await mkdir(join(root, "dist"));
  for (const path of ["serverless.yml", "infra/bucket.yml", "dist/region"]) {
    await cp(path, join(root, path), { recursive: true });
  }
  await symlink(join(process.cwd(), "node_modules"), join(root, "node_modules"));
  return root;
}

afterEach(() => vi.unstubAllEnvs());

const callsOf = (root: string, REGION_KEY = "key-of-the-region") =>
  regionCalls({ root, model: "bert-edge-mini", secrets: { REGION_KEY } });

describe("the region's stack, with osls itself", () => {
  it("is read from what osls prints", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "x");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "y");
    vi.stubEnv("AWS_REGION", "eu-central-1");
    vi.stubEnv("AWS_ENDPOINT_URL", await cloudFormation(true));
    const calls = callsOf(await project());
    expect(await calls.stack()).toEqual({
      url: outputs.RegionLambdaFunctionUrl,
      bucket: outputs.ModelBucketName,
      user: outputs.EdgeUserName,
      awsRegion: "eu-central-1",
    });
    vi.stubEnv("AWS_ENDPOINT_URL", await cloudFormation(false));
    expect(await calls.stack()).toBeUndefined();
  });

  it("needs credentials", async () => {
    for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"]) vi.stubEnv(name, undefined);
    vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
    vi.stubEnv("HOME", await temporaryFolder());
    await expect(callsOf(await project()).stack()).rejects.toMatchObject({ code: "login_missing" });
  });

  it("has a package with the same tag until something changes", async () => {
    const root = await project();
    const tag = await callsOf(root).packageTag();
    expect(await callsOf(root).packageTag()).toBe(tag);
    expect(await callsOf(root, "another-key").packageTag()).not.toBe(tag);
  });
});
