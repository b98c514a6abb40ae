import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { oslsStandIn, REGION_STAND_IN_URL } from "#test/fixtures/osls-stand-in.ts";
import { type RecordingStore, recordingStore } from "#test/fixtures/recording-store.ts";
import { smallArtifact } from "#test/fixtures/small-artifact.ts";
import { SMALL_CONFIG, smallPlan } from "#test/fixtures/small-plan.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { callStandIn } from "#test/fixtures/tool-stand-in.ts";
import { wranglerStandIn } from "#test/fixtures/wrangler-stand-in.ts";
import { memoryStore } from "../../storage/memory.ts";
import { type DeployOptions, deployProject } from "./deploy-project.ts";
import type { DeploySecrets } from "./read-secrets.ts";
import { type RegionStack, regionCalls } from "./region-calls.ts";
import type { StepReport } from "./steps.ts";
import { wranglerCalls } from "./wrangler-calls.ts";

const NAMES = ["bucket", "model", "region", "region model", "secrets", "worker"];
const secrets: DeploySecrets = {
  API_KEYS: "a-secret-key-of-the-deployment",
  REGION_KEY: "a-secret-key-of-the-region",
  REGION_AWS_ACCESS_KEY_ID: "an-access-key-of-the-edge",
  REGION_AWS_SECRET_ACCESS_KEY: "a-secret-access-key-of-the-edge",
};

let root: string;
let store: RecordingStore;
let regionStore: RecordingStore;
let opened: RegionStack[];
let wrangler: Awaited<ReturnType<typeof wranglerStandIn>>;
let osls: Awaited<ReturnType<typeof oslsStandIn>>;

beforeEach(async () => {
  root = await temporaryFolder();
  wrangler = await wranglerStandIn(root);
  osls = await oslsStandIn(root);
  await mkdir(join(root, "functions"));
  await writeFile(join(root, "wrangler.toml"), SMALL_CONFIG);
  await writeFile(join(root, "serverless.yml"), "service: bert-edge\n");
  await writeFile(join(root, "functions/edge.ts"), "export default {};\n");
  store = recordingStore(memoryStore());
  regionStore = recordingStore(memoryStore());
  opened = [];
});

async function optionsWith(given: DeploySecrets = secrets): Promise<DeployOptions> {
  const artifact = await smallArtifact();
  const calls = wranglerCalls({
    ...{ root, script: "functions/edge.ts", secrets: Object.values(given) },
    ...{ config: smallPlan.config, environment: smallPlan.environment },
    runTool: callStandIn,
  });
  calls.useAccount("account-1");
  return {
    ...{ root, plan: smallPlan, dryRun: false },
    ...{ store, artifacts: [artifact], others: [], secrets: given, wrangler: calls },
    region: {
      calls: regionCalls({
        root,
        model: artifact.manifest.name,
        secrets: { REGION_KEY: given["REGION_KEY"] as string },
        runTool: callStandIn,
      }),
      store(stack) {
        opened.push(stack);
        return regionStore;
      },
    },
  };
}

const deploy = async (given?: DeploySecrets, more?: Partial<DeployOptions>) =>
  (await deployProject({ ...(await optionsWith(given)), ...more })).steps.map(({ name, state }) => `${name} ${state}`);

const all = (state: string) => NAMES.map((name) => `${name} ${state}`);

/** Everything that has changed something. */
const changes = async () => [
  ...(await wrangler.changes()),
  ...(await osls.state()).packages,
  ...store.puts,
  ...regionStore.puts.map((key) => `region ${key}`),
];

class Killed extends Error {}

describe("deployProject with a region on AWS", () => {
  it("deploys the stack, publishes to its bucket, and tells the Worker its URL; the second run changes nothing", async () => {
    expect(await deploy()).toEqual(all("done"));
    expect(opened[0]).toMatchObject({ bucket: "region-models", awsRegion: "eu-central-1" });
    expect(regionStore.puts).toEqual(store.puts);
    expect((await wrangler.state()).secrets).toEqual({ ...secrets, REGION_URL: REGION_STAND_IN_URL });
    const before = await changes();
    expect(await deploy()).toEqual(all("kept"));
    expect(await changes()).toEqual(before);
  });

  it.each(NAMES)("continues after a kill behind the step %s, and a third run changes nothing", async (last) => {
    const onStep = ({ name }: StepReport) => {
      if (name === last) throw new Killed();
    };
    await expect(deploy(secrets, { onStep })).rejects.toThrow(Killed);
    const at = NAMES.indexOf(last);
    expect(await deploy()).toEqual(NAMES.map((name, i) => `${name} ${i <= at ? "kept" : "done"}`));
    const before = await changes();
    expect(new Set(before).size).toBe(before.length);
    expect(await deploy()).toEqual(all("kept"));
    expect(await changes()).toEqual(before);
  });

  it("plans everything in a dry run, and changes nothing", async () => {
    expect(await deploy(secrets, { dryRun: true })).toEqual(all("planned"));
    expect(await changes()).toEqual([]);
  });

  it("passes no secret as an argument", async () => {
    await deploy();
    const calls = [...(await wrangler.calls()), ...(await osls.calls())].map(({ args }) => args.join(" ")).join("\n");
    for (const secret of Object.values(secrets)) expect(calls).not.toContain(secret);
  });

  it("builds the region first, if the project has a script for it", async () => {
    await writeFile(join(root, "package.json"), JSON.stringify({ scripts: { build: "echo built >> built.txt" } }));
    await deploy();
    expect(await readFile(join(root, "built.txt"), "utf8")).toBe("built\n");
  });

  it("gives a new key to the region and to the Worker, and replaces no other secret", async () => {
    await deploy();
    const changed = { ...secrets, API_KEYS: "another-key", REGION_KEY: "another-key-of-the-region" };
    expect(await deploy(changed)).toEqual([
      ...["bucket kept", "model kept", "region done", "region model kept", "secrets done", "worker done"],
    ]);
    expect((await osls.state()).packages).toHaveLength(2);
    const { API_KEYS } = secrets;
    expect((await wrangler.state()).secrets).toEqual({ ...changed, API_KEYS, REGION_URL: REGION_STAND_IN_URL });
  });

  it("tells the Worker another URL of the region", async () => {
    await deploy();
    await osls.change({ url: "https://other.lambda-url.eu-central-1.on.aws/" });
    expect(await deploy()).toEqual([...all("kept").slice(0, 4), "secrets done", "worker done"]);
    expect((await wrangler.state()).secrets["REGION_URL"]).toBe("https://other.lambda-url.eu-central-1.on.aws/");
  });

  it("asks osls to make a stack again that somebody has removed", async () => {
    await deploy();
    await osls.change({ packages: [] });
    expect(await deploy()).toContain("region done");
  });

  it("says how to make keys for the stack's user, and continues when they are there", async () => {
    const { API_KEYS, REGION_KEY } = secrets;
    await expect(deploy({ API_KEYS, REGION_KEY: REGION_KEY as string })).rejects.toMatchObject({
      code: "login_missing",
      hint: expect.stringContaining("aws iam create-access-key --user-name edge-user"),
    });
    expect((await wrangler.state()).secrets).toEqual({});
    expect(await deploy()).toEqual([...all("kept").slice(0, 4), "secrets done", "worker done"]);
  });

  it("reports what osls says when it fails, without secrets", async () => {
    await osls.change({ failure: { command: "deploy", message: `No. ${secrets["REGION_KEY"]}` } });
    await expect(deploy()).rejects.toMatchObject({
      code: "deploy_failed",
      message: expect.stringMatching(/^osls deploy ended with 1:\nNo\. …$/),
    });
    await osls.change({ failure: undefined });
    expect(await deploy()).toEqual([...all("kept").slice(0, 2), ...all("done").slice(2)]);
  });

  it("says that AWS's credentials are missing", async () => {
    await osls.change({ hasCredentials: false });
    await expect(deploy()).rejects.toMatchObject({ code: "login_missing" });
  });

  it("says which output a changed stack lacks", async () => {
    await deploy();
    await osls.change({ bucket: "" });
    await expect(deploy()).rejects.toMatchObject({
      code: "project_invalid",
      message: "The stack of serverless.yml has no output ModelBucketName.",
    });
  });
});
