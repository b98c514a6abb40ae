import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import { MAX_DATA_BYTES, MAX_SETTINGS_BYTES, wholeFile, wholeText } from "../../compile/files/whole-file.ts";
import { disposableFolder } from "../disposable-folder.ts";
import { packageFile } from "../wrangler/installed.ts";
import { projectTool } from "./project-tool.ts";
import type { runTool } from "./run-tool.ts";

/** Configuration of the region's stack on AWS. */
export const REGION_CONFIG = "serverless.yml";

/** Timeout in ms of a build, of packaging and of a deployment. */
const DEPLOY_MS = 900_000;

export interface RegionCallsOptions {
  /** The project's folder. */
  readonly root: string;
  /** Names of the models that the region serves, separated by commas. */
  readonly model: string;
  /** Stage of the stack: each environment has a stack of its own. Default: the stage that serverless.yml names. */
  readonly stage?: string | undefined;
  /** Variables that serverless.yml reads. No message contains their values. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Default: starts a process. */
  readonly runTool?: typeof runTool;
}

/** The region's stack, as its outputs describe it. */
export interface RegionStack {
  /** URL of the function. */
  readonly url: string;
  /** Name of the bucket that the function reads the model from. */
  readonly bucket: string;
  /** AWS region of the bucket. */
  readonly awsRegion: string;
  /** Name of the IAM user who may call the function. */
  readonly user: string;
}

/** Calls of the project's own osls. */
export type RegionCalls = ReturnType<typeof regionCalls>;

/** @throws BertEdgeError `package_missing` */
export function regionCalls({ root, model, stage, secrets, runTool }: RegionCallsOptions) {
  const staged = stage === undefined ? [] : ["--stage", stage];
  const shared = { root, secrets: Object.values(secrets), runTool };
  const osls = projectTool({
    ...shared,
    name: "osls",
    script: packageFile(root, "osls", "bin/serverless.js"),
    // Variables, not arguments: all users of a machine can read arguments.
    env: () => ({ CI: "true", ...secrets, MODEL: model }),
  });
  const node = projectTool({ ...shared, name: "node", script: "--run", env: () => ({}) });

  return {
    /** Returns the stack; undefined before the first deployment. */
    async stack(): Promise<RegionStack | undefined> {
      const args = ["info", "--verbose", ...staged];
      const output = await osls.run(args);
      const text = output.stdout + output.stderr;
      if (output.code !== 0) {
        if (/Stack with id \S+ does not exist/.test(text)) return undefined;
        if (/credentials not found|Could not load credentials/i.test(text)) throw loginMissing();
        throw osls.failure(args, output);
      }
      const read = (name: string): string => {
        const value = new RegExp(`^\\s*${name}: (\\S+)$`, "m").exec(output.stdout)?.[1];
        if (value !== undefined) return value;
        throw new BertEdgeError("project_invalid", `The stack of ${REGION_CONFIG} has no output ${name}.`, {
          hint: "Keep the function `region` with its `url`, ModelBucket and EdgeUser, as `npx create-bert-edge` writes them. Or give the URL of a region in REGION_URL.",
        });
      };
      return {
        url: read("RegionLambdaFunctionUrl"),
        bucket: read("ModelBucketName"),
        awsRegion: read("region"),
        user: read("EdgeUserName"),
      };
    },
    /** Builds and packages the function. Returns a name for the package: the same content has the same name. */
    async packageTag(): Promise<string> {
      if (await hasScript(root, "build")) await node.done(["build"], { timeoutMs: DEPLOY_MS });
      using folder = disposableFolder("region");
      await osls.done(["package", "--package", folder.path, ...staged], { timeoutMs: DEPLOY_MS });
      const hash = createHash("sha256");
      for (const name of (await readdir(folder.path)).sort()) {
        const bytes = await wholeFile(join(folder.path, name), MAX_DATA_BYTES);
        if (name.endsWith(".zip")) hash.update(bytes);
        // The template has paths with the time of packaging, which must not change the hash.
        else if (name.includes("update-stack")) hash.update(bytes.toString().replaceAll(/\/\d{13}-[^/"]+\//g, "/"));
      }
      return hash.digest("hex").slice(0, 12);
    },
    /** Makes the stack, or changes it. osls changes nothing if the package is deployed already. */
    async deploy(): Promise<void> {
      await osls.done(["deploy", ...staged], { timeoutMs: DEPLOY_MS });
    },
  };
}

const loginMissing = () =>
  new BertEdgeError("login_missing", "osls has no credentials of AWS for the region.", {
    hint: "Once: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE. For a region elsewhere, give its REGION_URL in the file of secrets. Nothing was changed.",
  });

async function hasScript(root: string, name: string): Promise<boolean> {
  const file = join(root, "package.json");
  if (!existsSync(file)) return false;
  const { scripts = {} } = JSON.parse(await wholeText(file, MAX_SETTINGS_BYTES)) as {
    scripts?: Record<string, string>;
  };
  return name in scripts;
}
