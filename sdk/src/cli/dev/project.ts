import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { Artifact } from "../../artifact/artifact.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Target } from "../../artifact/manifest.ts";
import { builtConfig } from "../wrangler/built-config.ts";
import { bucketSetting, readWranglerConfig, type WranglerConfig } from "../wrangler/config.ts";
import type { Environment } from "../wrangler/environment.ts";
import { packageFile } from "../wrangler/installed.ts";

/** A user's project: a folder with the functions to deploy. */
export interface Project {
  readonly root: string;
  /** wrangler's configuration file, relative to `root`. */
  readonly config: string;
  /** The environment of `config`. */
  readonly environment: Environment;
  /** Configuration that a build wrote, relative to `root`. wrangler uses it instead of `config`. Undefined without a build. */
  readonly built: string | undefined;
  /** Entry file of the Worker, relative to `root`. */
  readonly main: string;
  /** The models that `config` names; empty if it has no variable MODEL. */
  readonly models: readonly string[];
  /** Name of the bucket that the Worker reads models from. */
  readonly bucket: string;
  /** functions/region.ts, relative to `root`; undefined if the project has no region. */
  readonly region: string | undefined;
}

const REGION = "functions/region.ts";
/** The Worker for models that the engine `wasm` cannot run. */
const ORT_WEB_EDGE = "functions/edge-ort-web.ts";

/**
 * Checks that a folder has everything that `bert-edge dev` runs.
 *
 * @throws BertEdgeError `project_invalid`, `package_missing`
 */
export function openProject(root: string, configuration: WranglerConfig = readWranglerConfig(root)): Project {
  const { path, environment, main, models, buckets } = configuration;
  if (!main || !existsSync(main)) {
    const fault = main ? `its \`main\`, ${main}, does not exist` : "it has no `main`";
    throw new BertEdgeError("project_invalid", `${path} names no Worker: ${fault}.`, {
      hint: "Set `main` to the Worker's entry file: functions/edge.ts.",
    });
  }
  const bucket = buckets.get("MODELS");
  if (!bucket) {
    const { name, all } = environment;
    const topLevel = all.length > 0 ? " at its top level" : "";
    const where = name === undefined ? topLevel : ` in the environment ${name}, which inherits no bindings`;
    const choose =
      topLevel && name === undefined ? `Choose an environment with --env: ${all.join(", ")}. Or add` : "Add";
    throw new BertEdgeError("project_invalid", `${path} has no R2 binding named MODELS${where}.`, {
      hint: `${choose} ${bucketSetting(configuration, "my-models")}. The Worker reads its model from there.`,
    });
  }
  packageFile(root, "hono", "package.json");
  const region = existsSync(join(root, REGION)) ? REGION : undefined;
  if (region) packageFile(root, "onnxruntime-node", "package.json");
  const built = builtConfig(root, configuration);
  return { root, config: relative(root, path), environment, built, main: relative(root, main), models, bucket, region };
}

/**
 * Returns the entry file of the Worker for an engine.
 *
 * @throws BertEdgeError `project_invalid` if the project has no entry file for it
 */
export function edgeScript({ root, main }: Project, engine: Target["engine"]): string {
  if (engine === "wasm") return main;
  if (existsSync(join(root, ORT_WEB_EDGE))) return ORT_WEB_EDGE;
  throw new BertEdgeError(
    "project_invalid",
    `This model needs ${engine} at the edge, and there is no ${ORT_WEB_EDGE}.`,
    {
      hint: `README.md of projects that \`npx create-bert-edge\` makes contains this file. Otherwise use another model.`,
    },
  );
}

/** @throws BertEdgeError `project_invalid` if two models have the same name */
export function assertDifferent(artifacts: readonly Pick<Artifact, "manifest">[]): void {
  const names = artifacts.map(({ manifest }) => manifest.name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice === undefined) return;
  throw new BertEdgeError("project_invalid", `Two of the models are named ${twice}.`, {
    hint: "Give each model once, or prepare one of them with another --name.",
  });
}

/**
 * Returns the engine that the Worker needs for all models.
 *
 * @throws BertEdgeError `project_invalid` if the models need different engines
 */
export function engineOf(artifacts: readonly Pick<Artifact, "manifest">[]): Target["engine"] {
  const engines = artifacts.map(({ manifest }) => manifest.targets.edge?.engine ?? "wasm");
  const [first = "wasm"] = engines;
  if (engines.every((engine) => engine === first)) return first;
  const needs = artifacts.map(({ manifest }, i) => `${manifest.name} needs ${engines[i]}`).join(", ");
  throw new BertEdgeError("project_invalid", `A Worker has one engine, and these models need several: ${needs}.`, {
    hint: "Deploy one Worker for each engine.",
  });
}
