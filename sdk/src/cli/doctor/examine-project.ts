import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import { forecastOf } from "../../compile/latency/platforms/forecast.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import { openProject } from "../dev/project.ts";
import { DEV_VARS } from "../dev/stack.ts";
import { type Finding, findingsOf } from "../finding.ts";
import type { WranglerConfig } from "../wrangler.ts";

/** CPU time per request of Cloudflare's plans, in ms: https://developers.cloudflare.com/workers/platform/limits/#cpu-time */
const [FREE_PLAN_MS, PAID_PLAN_MS] = [10, 30_000];
const SETTINGS = "functions/edge-settings.ts";

/** Examines a project's settings and its prepared model. */
export async function examineProject(root: string, config: WranglerConfig): Promise<Finding[]> {
  const name = relative(root, config.path);
  const { ok } = findingsOf("project", name);
  const found = [
    attempt("project", name, () => {
      const { main, bucket, region } = openProject(root);
      return ok(
        `${main} reads models from the bucket ${bucket}. ${region ? `${region} is its region.` : "It has no region."}`,
      );
    }),
    examineCpuLimit(root, config),
    examineKeys(root),
    ...examinePage(root, config),
  ];
  return [...found, await examineModel(root, config)];
}

/** Turns an error of bert-edge into a finding. */
function attempt(check: string, where: string, work: () => Finding): Finding {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof BertEdgeError)) throw error;
    return findingsOf(check, where).broken(error.message, error.hint ?? `bert-edge explain ${error.code}`);
  }
}

/** Compares `cpuLimitMs`, which the edge reckons with, with the limit that Cloudflare applies. */
function examineCpuLimit(root: string, { cpuMs, path }: WranglerConfig): Finding {
  const { ok, note, broken } = findingsOf("cpu-limit", SETTINGS);
  const assumed = assumedLimit(root);
  if (assumed === undefined)
    return note("It has no line `cpuLimitMs: <number>`. The edge assumes 30,000 ms, the default of paid plans.");
  const allowed = cpuMs ?? PAID_PLAN_MS;
  if (assumed > allowed) {
    const where = cpuMs === undefined ? "the default of paid plans" : `cpu_ms in ${relative(root, path)}`;
    return broken(
      `cpuLimitMs is ${assumed}, but Cloudflare ends a request after ${allowed} ms (${where}).`,
      `Set cpuLimitMs to ${allowed}, or cpu_ms under [limits] to ${assumed}.`,
    );
  }
  return assumed <= FREE_PLAN_MS
    ? ok(`cpuLimitMs is ${assumed}: it suits the free Workers plan.`)
    : ok(
        `cpuLimitMs is ${assumed}: it needs a paid Workers plan. The free plan ends requests after ${FREE_PLAN_MS} ms.`,
      );
}

/** Returns the `cpuLimitMs` of a project's settings, in ms; undefined if they have no such line. */
function assumedLimit(root: string): number | undefined {
  const file = join(root, SETTINGS);
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const number = /^\s*cpuLimitMs:\s*([\d_]+)/m.exec(text)?.[1]?.replaceAll("_", "");
  return number === undefined ? undefined : Number(number);
}

function examineKeys(root: string): Finding {
  const { ok, note } = findingsOf("keys", DEV_VARS);
  const file = join(root, DEV_VARS);
  if (!existsSync(file)) return note("The file does not exist. `bert-edge dev` makes a new API key at each start.");
  return /^API_KEYS=\S/m.test(readFileSync(file, "utf8"))
    ? ok("It has API keys for this machine.")
    : note("It has no API_KEYS. `bert-edge dev` makes a new API key at each start.");
}

function examinePage(root: string, { assets, path }: WranglerConfig): Finding[] {
  if (assets === undefined) return [];
  const folder = resolve(dirname(path), assets);
  const { ok, broken } = findingsOf("page", relative(root, folder));
  return [
    existsSync(join(folder, "index.html"))
      ? ok("The Worker shows it at `/`.")
      : broken(
          "The folder of [assets] has no index.html.",
          "Install the project's packages, or remove [assets] from wrangler.toml.",
        ),
  ];
}

/** Examines the artifact in models/<MODEL>, where `create-bert-edge` puts it. */
async function examineModel(root: string, { model }: WranglerConfig): Promise<Finding> {
  const folder = join("models", model ?? "");
  const { ok, note, broken } = findingsOf("model", folder);
  if (model === undefined)
    return broken("wrangler.toml has no MODEL under [vars].", 'Add MODEL = "<name of the model>" under [vars].');
  if (!existsSync(join(root, folder, "manifest.json"))) {
    return note(
      "There is no artifact of the model that wrangler.toml names. The deployed Worker reads it from its bucket.",
    );
  }
  const { manifest, measurements } = await openFolder(join(root, folder));
  const workers = forecastOf(manifest, measurements).fit.platforms.filter(({ target }) => target === "edge");
  const fitting = workers.filter(({ fits }) => fits).map(({ name }) => name);
  const [ms = 0] = workers.flatMap((each) => each.ms ?? []);
  const allowed = assumedLimit(root) ?? PAID_PLAN_MS;
  if (fitting.length > 0 && ms > allowed) {
    const longer = `A text of 128 tokens takes ${ms.toFixed(0)} ms of CPU time, and cpuLimitMs is ${allowed}`;
    return {
      ...note(`It fits ${fitting.join(" and ")}. ${longer}: longer texts go to the region, or are refused.`),
      fix: `On the paid plan, set cpuLimitMs to ${PAID_PLAN_MS} in ${SETTINGS}. On the free plan, take a smaller model.`,
    };
  }
  if (fitting.length > 0) return ok(`It fits ${fitting.join(" and ")}.`);
  const limits = workers.map(({ name, binding }) => `${name}: ${binding.limit}`).join("; ");
  return broken(
    `It exceeds a limit of every Workers plan (${limits || "it has no target edge"}).`,
    "Prepare it with --targets edge and --table int4, or take a smaller model.",
  );
}
