import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type RecordingStore, recordingStore } from "#test/fixtures/recording-store.ts";
import { smallArtifact } from "#test/fixtures/small-artifact.ts";
import { SMALL_CONFIG, smallPlan } from "#test/fixtures/small-plan.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { callStandIn } from "#test/fixtures/tool-stand-in.ts";
import { STAND_IN_URL, wranglerStandIn } from "#test/fixtures/wrangler-stand-in.ts";
import { memoryStore } from "../../storage/memory.ts";
import { publish } from "../../storage/publish.ts";
import { chooseAccount } from "./deploy-plan.ts";
import { type DeployOptions, deployProject } from "./deploy-project.ts";
import type { StepReport } from "./steps.ts";
import { wranglerCalls } from "./wrangler-calls.ts";

const KEY = "a-secret-key-of-the-deployment";
const REGION_KEY = "a-secret-key-of-the-region";
const NAMES = ["bucket", "model", "secrets", "worker"];

let root: string;
let store: RecordingStore;
let options: DeployOptions;
let standIn: Awaited<ReturnType<typeof wranglerStandIn>>;

beforeEach(async () => {
  root = await temporaryFolder();
  standIn = await wranglerStandIn(root);
  await mkdir(join(root, "functions"));
  await writeFile(join(root, "wrangler.toml"), SMALL_CONFIG);
  await writeFile(join(root, "functions/edge.ts"), "export default {};\n");
  store = recordingStore(memoryStore());
  const secrets = { API_KEYS: KEY, REGION_KEY };
  const wrangler = wranglerCalls({
    ...{ root, script: "functions/edge.ts", secrets: Object.values(secrets) },
    ...{ config: smallPlan.config, environment: smallPlan.environment },
    runTool: callStandIn,
  });
  wrangler.useAccount("account-1");
  options = {
    root,
    plan: smallPlan,
    store,
    artifacts: [await smallArtifact()],
    others: [],
    secrets,
    wrangler,
    region: undefined,
    dryRun: false,
  };
});

const states = (steps: readonly StepReport[]) => steps.map(({ name, state }) => `${name} ${state}`);

/** Everything that has changed something: calls of wrangler, and writes to the bucket. */
const changes = async () => [...(await standIn.changes()), ...store.puts];

class Killed extends Error {}

describe("deployProject", () => {
  it("does all steps in the first run, and nothing in the second", async () => {
    const first = await deployProject(options);
    expect(states(first.steps)).toEqual(NAMES.map((name) => `${name} done`));
    expect(await standIn.changes()).toEqual([
      "r2 bucket create models --config wrangler.toml",
      "secret bulk --config wrangler.toml",
      expect.stringMatching(/^deploy /),
    ]);
    const before = await changes();
    const second = await deployProject(options);
    expect(states(second.steps)).toEqual(NAMES.map((name) => `${name} kept`));
    expect(second.url).toBe(first.url);
    expect(await changes()).toEqual(before);
  });

  it.each(NAMES)("continues after a kill behind the step %s, and a third run changes nothing", async (last) => {
    const onStep = ({ name }: StepReport) => {
      if (name === last) throw new Killed();
    };
    await expect(deployProject({ ...options, onStep })).rejects.toThrow(Killed);
    const { steps } = await deployProject(options);
    const at = NAMES.indexOf(last);
    expect(states(steps)).toEqual(NAMES.map((name, i) => `${name} ${i <= at ? "kept" : "done"}`));
    const all = await changes();
    // Each change was made once.
    expect(new Set(all).size).toBe(all.length);
    await deployProject(options);
    expect(await changes()).toEqual(all);
  });

  it("continues after a kill within the upload of the model", async () => {
    const broken = recordingStore(store, 1);
    await expect(deployProject({ ...options, store: broken })).rejects.toThrow("The network is down.");
    const { steps } = await deployProject(options);
    expect(states(steps)).toEqual(["bucket kept", "model done", "secrets done", "worker done"]);
    expect(new Set(store.puts).size).toBe(store.puts.length);
  });

  it("publishes several models, and looks for those of which there is no artifact", async () => {
    const first = await smallArtifact();
    const second = await smallArtifact("second", "second");
    const served = { ...options, artifacts: [first, second], others: ["third"] };
    const dry = await deployProject({ ...served, dryRun: true });
    expect(states(dry.steps).slice(0, 4)).toEqual([
      "bucket planned",
      "model planned",
      "model second planned",
      "model third planned",
    ]);
    await expect(deployProject(served)).rejects.toMatchObject({
      code: "model_not_published",
      hint: expect.stringContaining("--model <artifact> <artifact>"),
    });
    await publish(await smallArtifact("third", "third"), store);
    expect(states((await deployProject(served)).steps)).toEqual([
      ...["bucket kept", "model kept", "model second kept", "model third kept", "secrets done", "worker done"],
    ]);
  });

  it("only looks in a dry run", async () => {
    const { steps, url } = await deployProject({ ...options, dryRun: true });
    expect({ states: states(steps), url }).toEqual({ states: NAMES.map((name) => `${name} planned`), url: undefined });
    expect(await changes()).toEqual([]);
  });

  it("passes secrets through stdin, never as arguments, and sets only missing ones", async () => {
    await standIn.change({ isThere: true, secrets: { API_KEYS: "older" } });
    await deployProject(options);
    const calls = await standIn.calls();
    expect(calls.map(({ args }) => args.join(" ")).join("\n")).not.toMatch(new RegExp(`${KEY}|${REGION_KEY}`));
    expect((await standIn.state()).secrets).toEqual({ API_KEYS: "older", REGION_KEY });
    expect(await readFile(join(root, ".wrangler/bert-edge-deployment.json"), "utf8")).not.toContain("secret");
  });

  it("deploys again when the Worker or the model has changed", async () => {
    await deployProject(options);
    await writeFile(join(root, "functions/edge.ts"), "export default { fetch() {} };\n");
    expect(states((await deployProject(options)).steps)).toContain("worker done");
    const newer = await deployProject({ ...options, artifacts: [await smallArtifact("newer")] });
    expect(states(newer.steps)).toEqual(["bucket kept", "model done", "secrets kept", "worker kept"]);
  });

  it("deploys again when the URL is not known", async () => {
    await deployProject(options);
    await writeFile(join(root, ".wrangler/bert-edge-deployment.json"), "{");
    const { steps, url } = await deployProject(options);
    expect(states(steps)).toEqual(["bucket kept", "model kept", "secrets kept", "worker done"]);
    expect(url).toBe(STAND_IN_URL);
  });

  it("reports what wrangler says when it fails, without secrets", async () => {
    await standIn.change({ failure: { command: "secret bulk --config wrangler.toml", message: `No. ${KEY}` } });
    await expect(deployProject(options)).rejects.toMatchObject({
      code: "deploy_failed",
      message: expect.stringMatching(/^wrangler secret bulk --config wrangler\.toml ended with 1:\nNo\. …$/),
    });
    await standIn.change({ failure: undefined });
    const { steps } = await deployProject(options);
    expect(states(steps)).toEqual(["bucket kept", "model kept", "secrets done", "worker done"]);
  });

  it("stops before it changes anything if wrangler would deploy another Worker, bucket or MODEL", async () => {
    await standIn.change({ otherPlan: { worker_name: "api-production" } });
    await expect(deployProject(options)).rejects.toMatchObject({
      code: "deploy_plan_differs",
      message: expect.stringContaining("the Worker is api here and api-production there. Nothing was changed."),
    });
    await standIn.change({ otherPlan: undefined });
    await writeFile(join(root, "wrangler.toml"), `${SMALL_CONFIG}jurisdiction = "eu"\n`);
    await expect(deployProject(options)).rejects.toMatchObject({
      code: "deploy_plan_differs",
      message: expect.stringContaining("the bucket of MODELS is models here and models (jurisdiction eu) there."),
    });
    await writeFile(join(root, "wrangler.toml"), 'name = "api"\ncompatibility_date = "2026-01-01"\n');
    await expect(deployProject(options)).rejects.toMatchObject({
      code: "deploy_plan_differs",
      message: expect.stringContaining(
        "the bucket of MODELS is models here and none there; MODEL is small here and none there.",
      ),
    });
    expect(await changes()).toEqual([]);
  });

  it("makes a bucket in its jurisdiction, although there is one of this name outside of it", async () => {
    await standIn.change({ buckets: ["models"] });
    await writeFile(join(root, "wrangler.toml"), `${SMALL_CONFIG}jurisdiction = "eu"\n`);
    const plan = { ...smallPlan, bucket: { name: "models", jurisdiction: "eu" as const } };
    expect(states((await deployProject({ ...options, plan })).steps)[0]).toBe("bucket done");
    expect((await standIn.state()).buckets).toEqual(["models", "eu:models"]);
    expect(states((await deployProject({ ...options, plan })).steps)[0]).toBe("bucket kept");
  });

  it("does not take another failure for a bucket that does not exist", async () => {
    await standIn.change({ failure: { command: "r2 bucket info", message: "[code: 10000]" } });
    await expect(deployProject(options)).rejects.toMatchObject({ code: "deploy_failed" });
    expect(await changes()).toEqual([]);
  });
});

describe("the account", () => {
  const accounts = [
    { id: "1", name: "One" },
    { id: "2", name: "Two" },
  ];
  const variable = () => undefined;
  const exported = (name: string) =>
    name === "CLOUDFLARE_ACCOUNT_ID" ? { value: "2", from: "CLOUDFLARE_ACCOUNT_ID in .env" } : undefined;

  it("is that of who is logged in", async () => {
    const chosen = chooseAccount(await options.wrangler.accounts(), { account: undefined, variable });
    expect(chosen.id).toBe("account-1");
  });

  it("needs a login", async () => {
    await standIn.change({ accounts: undefined });
    const there = await options.wrangler.accounts();
    expect(() => chooseAccount(there, { account: "account-1", variable })).toThrow(
      expect.objectContaining({ code: "login_missing" }),
    );
  });

  it("must be chosen if there are several", () => {
    expect(() => chooseAccount(accounts, { account: undefined, variable })).toThrow(/1 \(One\), 2 \(Two\)/);
    expect(chooseAccount(accounts, { account: "1", variable: exported })).toEqual({ id: "1", from: "account_id" });
    expect(chooseAccount(accounts, { account: undefined, variable: exported })).toEqual({
      ...{ id: "2", from: "CLOUDFLARE_ACCOUNT_ID in .env" },
    });
    // A token may show no account.
    expect(chooseAccount([], { account: "3", variable }).id).toBe("3");
  });

  it("must be one of the login's", () => {
    expect(() => chooseAccount(accounts, { account: "3", variable })).toThrow(
      expect.objectContaining({
        code: "setting_invalid",
        message: 'The login has no access to the account "3" (account_id).',
        hint: expect.stringContaining("1 (One), 2 (Two)"),
      }),
    );
  });
});
