import { join, relative } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import { bucketText } from "../deploy/deploy-plan.ts";
import { deployedBucket, modelNames, type WranglerConfig } from "./config.ts";
import { requireWrangler } from "./installed.ts";

/** The file in which a build, such as that of Cloudflare's Vite plugin, names the configuration that wrangler deploys and runs. */
const DEPLOY_CONFIG = ".wrangler/deploy/config.json";

/**
 * Finds the configuration that a build wrote: wrangler deploys and runs it instead of the project's own.
 *
 * @returns path of the built configuration relative to `root`; undefined without a build
 * @throws BertEdgeError `project_invalid` if it cannot be read, or is not a build of the chosen environment
 */
export function builtConfig(root: string, config: WranglerConfig): string | undefined {
  const { path, environment } = config;
  const own = relative(root, path);
  let found: { redirected: boolean; configPath?: string; rawConfig: Record<string, unknown> };
  try {
    const at = { script: join(root, "index.js") };
    found = requireWrangler(root).experimental_readRawConfig(at, { useRedirectIfAvailable: true });
  } catch (cause) {
    throw new BertEdgeError("project_invalid", `wrangler cannot use the build that a file ${DEPLOY_CONFIG} names.`, {
      hint: `Build the project again, or delete that file (the cause names its path) to use the \`main\` of ${own}.`,
      cause,
    });
  }
  const { redirected, configPath, rawConfig } = found;
  if (!redirected || configPath === undefined) return undefined;
  const built = relative(root, configPath);
  const bucket = deployedBucket((rawConfig["r2_buckets"] ?? []) as never, configPath);
  const differences = [
    ["the Worker", config.name, rawConfig["name"]],
    ["the bucket of MODELS", config.deployedBucket && bucketText(config.deployedBucket), bucket && bucketText(bucket)],
    ["MODEL", config.models.join(), modelNames((rawConfig["vars"] ?? {}) as Record<string, unknown>).join()],
  ].flatMap(([what, own, other]) => (own === other ? [] : `${what} is ${other || "none"}, not ${own || "none"}`));
  if (differences.length === 0) return built;
  const chosen = rawConfig["targetEnvironment"] || undefined;
  const place = environment.name === undefined ? "the top level" : `the environment ${environment.name}`;
  const again = environment.name === undefined ? "" : ` with CLOUDFLARE_ENV=${environment.name}`;
  const choose =
    chosen === environment.name ? "" : `choose the environment of the build with --env ${chosen ?? '""'}, or `;
  throw new BertEdgeError(
    "project_invalid",
    `wrangler would use ${built}, which ${DEPLOY_CONFIG} names. It is not a build of ${place} of ${own}: ${differences.join("; ")}.`,
    { hint: `Build the project again${again}, or ${choose}delete ${DEPLOY_CONFIG} to use the \`main\` of ${own}.` },
  );
}
