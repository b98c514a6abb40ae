import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanEnv } from "./clean-env.ts";
import { type PublishedModel, publishedModel, UNIT_TOLERANCE } from "./published-model.ts";

const exec = promisify(execFile);

/** Maximum bytes of the unzipped package: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const MAX_UNZIPPED_BYTES = 250 * 1024 * 1024;

/** Loads the handler, calls it with each event as Lambda does, and prints the results. */
const runtime = `
  const [module, name, events] = process.argv.slice(1);
  const handler = (await import(module))[name];
  const results = [];
  for (const event of JSON.parse(events)) results.push(await handler(event, {}));
  process.stdout.write(JSON.stringify(results), () => process.exit());
`;

interface Template {
  Resources: {
    RegionLambdaFunction: {
      Properties: {
        Handler: string;
        Runtime: string;
        Environment: { Variables: Record<string, string | object> };
        ReservedConcurrentExecutions: number;
      };
    };
    RegionLambdaFunctionUrl: { Properties: { AuthType: string } };
    EdgeUser: {
      Properties: { Policies: { PolicyDocument: { Statement: { Action: string; Resource: object }[] } }[] };
    };
    IamRoleLambdaExecution: {
      Properties: { Policies: { PolicyDocument: { Statement: { Action: string[] }[] } }[] };
    };
  };
}

/** The package contains onnxruntime-node's library for Lambda's platform only: Linux on x64. */
describe.runIf(process.platform === "linux" && process.arch === "x64")("the region's AWS package", () => {
  const key = crypto.randomUUID();
  let folder: string;
  let unzipped: string;
  let template: Template;
  let model: PublishedModel | undefined;

  const osls = (args: readonly string[], env: Record<string, string>) =>
    exec(process.execPath, ["node_modules/osls/bin/serverless.js", ...args], {
      env: { ...cleanEnv, ...env },
    });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "bert-edge-aws-"));
    const output = join(folder, "package");
    unzipped = join(folder, "task");
    await exec("npm", ["run", "build:region"], { env: cleanEnv });
    await osls(["package", "--package", output], { REGION_KEY: key });
    await exec("unzip", ["-q", join(output, "bert-edge.zip"), "-d", unzipped]);
    template = JSON.parse(await readFile(join(output, "cloudformation-template-update-stack.json"), "utf8"));
    model = await publishedModel();
  });

  afterAll(async () => {
    await model?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /**
   * Calls the packaged handler. Its environment has the variables that the template sets and those that Lambda sets.
   */
  async function invoke(events: object[], env = {}): Promise<{ statusCode: number; body: string }[]> {
    if (!model) throw new Error("No model is published.");
    const { Handler, Environment } = template.Resources.RegionLambdaFunction.Properties;
    const dot = Handler.lastIndexOf(".");
    const { stdout } = await exec(
      process.execPath,
      [
        ...["--input-type=module", "--eval", runtime],
        ...[join(unzipped, `${Handler.slice(0, dot)}.mjs`), Handler.slice(dot + 1), JSON.stringify(events)],
      ],
      {
        cwd: unzipped,
        timeout: 20_000,
        env: {
          ...(Environment.Variables as Record<string, string>),
          S3_BUCKET: model.access.bucket,
          S3_ENDPOINT: model.access.endpoint,
          AWS_LAMBDA_FUNCTION_NAME: "region",
          AWS_REGION: model.access.region,
          AWS_ACCESS_KEY_ID: model.access.accessKeyId,
          AWS_SECRET_ACCESS_KEY: model.access.secretAccessKey,
          ...env,
        },
      },
    );
    return JSON.parse(stdout);
  }

  /** Makes the event of a function URL: https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html */
  const embedEvent = (bearer: string) => ({
    version: "2.0",
    routeKey: "$default",
    rawPath: "/v1/embed",
    rawQueryString: "",
    headers: { host: "region.example", authorization: `Bearer ${bearer}`, "content-type": "application/json" },
    requestContext: { domainName: "region.example", http: { method: "POST", path: "/v1/embed" } },
    body: JSON.stringify({ inputs: "to be or not to be" }),
    isBase64Encoded: false,
  });

  it("answers an embedding of unit length, and refuses a wrong key", async () => {
    const [answer, refusal] = await invoke([embedEvent(key), embedEvent("wrong")]);

    expect(answer?.statusCode, answer?.body).toBe(200);
    const [vector] = JSON.parse(answer?.body ?? "").embeddings;
    expect(vector).toHaveLength(model?.manifest.dimensions ?? 0);
    expect(Math.abs(Math.hypot(...vector) - 1)).toBeLessThan(UNIT_TOLERANCE);

    expect(refusal?.statusCode).toBe(401);
    expect(JSON.parse(refusal?.body ?? "").error.code).toBe("key_wrong");
  });

  it("contains only the bundle and onnxruntime for Linux on x64, within the size limit", async () => {
    const entries = await readdir(unzipped, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(unzipped, join(entry.parentPath, entry.name)));
    const needed =
      /^(dist\/region|node_modules\/onnxruntime-(common|node)\/(package\.json|dist|bin\/[^/]+\/linux\/x64))/;
    expect(files.filter((file) => !needed.test(file))).toEqual([]);

    const sizes = await Promise.all(files.map(async (file) => (await stat(join(unzipped, file))).size));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_UNZIPPED_BYTES);
  });

  it("runs the same major version of Node as the tests, and may only read the bucket", () => {
    const { RegionLambdaFunction, IamRoleLambdaExecution } = template.Resources;
    expect(RegionLambdaFunction.Properties.Runtime).toBe(`nodejs${process.versions.node.split(".")[0]}.x`);
    expect(RegionLambdaFunction.Properties.Environment.Variables["S3_BUCKET"]).toEqual({ Ref: "ModelBucket" });

    const statements = IamRoleLambdaExecution.Properties.Policies.flatMap((policy) => policy.PolicyDocument.Statement);
    const actions = statements.flatMap(({ Action }) => Action).filter((action) => !action.startsWith("logs:"));
    expect(actions).toEqual(["s3:GetObject", "s3:ListBucket"]);
  });

  it("has a URL that only the edge's user may call, and a limit of concurrent requests", () => {
    const { RegionLambdaFunctionUrl, RegionLambdaFunction, EdgeUser } = template.Resources;
    expect(RegionLambdaFunctionUrl.Properties.AuthType).toBe("AWS_IAM");
    expect(RegionLambdaFunction.Properties.ReservedConcurrentExecutions).toBe(10);
    expect(JSON.stringify(template)).not.toContain("AWS::Lambda::Permission");
    const statements = EdgeUser.Properties.Policies.flatMap((policy) => policy.PolicyDocument.Statement);
    expect(statements.map(({ Action }) => Action)).toEqual(["lambda:InvokeFunctionUrl", "lambda:InvokeFunction"]);
    for (const { Resource } of statements) expect(Resource).toEqual({ "Fn::GetAtt": ["RegionLambdaFunction", "Arn"] });
  });

  it("answers the key in x-api-key, because AWS needs the header authorization for its signature", async () => {
    const signed = embedEvent("");
    const headers = { ...signed.headers, authorization: "AWS4-HMAC-SHA256 Credential=AKIA", "x-api-key": key };
    const [answer] = await invoke([{ ...signed, headers }]);
    expect(answer?.statusCode, answer?.body).toBe(200);
  });

  it("can be packaged without a key, and then refuses every request", async () => {
    const { stdout } = await osls(["print", "--format", "json"], {});
    const { API_KEYS } = JSON.parse(stdout).provider.environment;
    const [refusal] = await invoke([embedEvent(key)], { API_KEYS });

    expect(refusal?.statusCode).toBe(503);
    expect(JSON.parse(refusal?.body ?? "").error.code).toBe("keys_not_configured");
  });
});
