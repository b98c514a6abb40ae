import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import * as v from "valibot";
import { ModelName } from "../../artifact/manifest.ts";
import { shown } from "../../artifact/shown.ts";
import { meantNames } from "../../artifact/similar-names.ts";
import { MAX_SETTINGS_BYTES, wholeTextSync } from "../../compile/files/whole-file.ts";
import { forecastOf } from "../../compile/latency/platforms/forecast.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import { bucketText } from "../deploy/deploy-plan.ts";
import { openProject } from "../dev/project.ts";
import { attempt, type Finding, findingsOf } from "../finding.ts";
import { FREE_PLAN_MS, PAID_PLAN_MS } from "../wrangler/cloudflare.ts";
import { modelSetting, type WranglerConfig } from "../wrangler/config.ts";
import { environmentText } from "../wrangler/environment.ts";
import { DEV_VARS, developerVars } from "../wrangler/variables.ts";

const SETTINGS = "functions/edge-settings.ts";

/** Examines a project's settings and its prepared models. */
export async function examineProject(root: string, config: WranglerConfig): Promise<Finding[]> {
  const name = relative(root, config.path);
  const examined = [
    attempt("project", name, () => {
      const { main, built = main, bucket, region } = openProject(root, config);
      const deployed = config.deployedBucket ? bucketText(config.deployedBucket) : bucket;
      const where = config.environment.all.length > 0 ? ` in ${environmentText(config.environment)}` : "";
      return findingsOf("project", name).ok(
        `${built} reads models from the bucket ${deployed}${where}. ${region ? `${region} is its region.` : "It has no region."}`,
      );
    }),
    attempt("cpu-limit", SETTINGS, () => examineCpuLimit(root, config)),
    attempt("keys", DEV_VARS, () => examineKeys(root, config.environment.name)),
    attempt("page", name, () => examinePage(root, config)),
    ...config.models.map((model, _, served) =>
      attempt("model", join("models", model), () => examineModel(root, model, { config: name, served })),
    ),
  ];
  return [...(await Promise.all(examined)).flat(), ...missingModel(config, name)];
}

/** Compares `cpuLimitMs`, the limit that the edge assumes, with the limit that Cloudflare applies. */
function examineCpuLimit(root: string, { cpuMs, path }: WranglerConfig): Finding {
  const { ok, note, broken } = findingsOf("cpu-limit", SETTINGS);
  const assumed = assumedLimit(root);
  if (typeof assumed === "object")
    return note(`cpuLimitMs is \`${assumed.unread}\`, which is not a number here, so it was not compared.`);
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

/** Returns the `cpuLimitMs` of a project's settings; undefined if they have no such line. */
function assumedLimit(root: string): CpuLimitSetting | undefined {
  const file = join(root, SETTINGS);
  return existsSync(file) ? cpuLimitSetting(wholeTextSync(file, MAX_SETTINGS_BYTES)) : undefined;
}

function examineKeys(root: string, environment: string | undefined): Finding {
  const { file, vars } = developerVars(root, environment);
  const { ok, note } = findingsOf("keys", file);
  if (vars["API_KEYS"]) return ok("It has API keys for this machine.");
  const missing = existsSync(join(root, file)) ? "It has no API_KEYS." : "The file does not exist.";
  return note(`${missing} \`bert-edge dev\` makes a new API key at each start.`);
}

function examinePage(root: string, { assets, path }: WranglerConfig): Finding[] {
  if (assets === undefined) return [];
  const folder = resolve(dirname(path), assets);
  const { ok, broken } = findingsOf("page", relative(root, folder));
  return [
    existsSync(join(folder, "index.html"))
      ? ok("The Worker shows it at `/`.")
      : broken(
          "The folder of the assets has no index.html.",
          `Install the project's packages, or remove the assets from ${relative(root, path)}.`,
        ),
  ];
}

/** Reports a missing variable MODEL. The Worker's code can name its model itself, but `deploy` and `doctor` read the variable. */
function missingModel(config: WranglerConfig, name: string): Finding[] {
  if (config.models.length > 0) return [];
  const what = "It has no variable MODEL, so no artifact was examined. `bert-edge deploy` needs it.";
  return [{ ...findingsOf("model", name).note(what), fix: `Add ${modelSetting(config, "<name of the model>")}.` }];
}

/** Returns the names of the folders of models/ that have an artifact. */
function preparedModels(root: string): string[] {
  const models = join(root, "models");
  const folders = existsSync(models) ? readdirSync(models) : [];
  return folders.filter((folder) => existsSync(join(models, folder, "manifest.json")));
}

/** Examines the artifact in models/<name>, where `create-bert-edge` puts it. */
async function examineModel(
  root: string,
  name: string,
  { config, served }: { readonly config: string; readonly served: readonly string[] },
): Promise<Finding> {
  if (!v.is(ModelName, name)) {
    const { broken } = findingsOf("model", config);
    return broken(`MODEL has ${shown(name)}, which is not the name of a model.`, "Use 1-64 of a-z 0-9 . _ -.");
  }
  const folder = join("models", name);
  const { ok, note, broken } = findingsOf("model", folder);
  if (!existsSync(join(root, folder, "manifest.json"))) {
    const meant = meantNames(
      name,
      preparedModels(root).filter((prepared) => !served.includes(prepared)),
    );
    if (meant !== "") {
      return broken(
        `${config} says MODEL = ${shown(served.join(","))}, but there is no artifact of ${name}.${meant}`,
        `Set MODEL to the name of the model that you publish, or prepare it: npx bert-edge prepare <model> --out ${folder}.`,
      );
    }
    return note(
      `There is no artifact of the model that ${config} names. The deployed Worker reads it from its bucket.`,
    );
  }
  const { manifest, measurements } = await openFolder(join(root, folder));
  const workers = forecastOf(manifest, measurements).fit.platforms.filter(({ target }) => target === "edge");
  const fitting = workers.filter(({ fits }) => fits).map(({ name }) => name);
  const [ms = 0] = workers.flatMap((each) => each.ms ?? []);
  const assumed = assumedLimit(root);
  const allowed = typeof assumed === "number" ? assumed : PAID_PLAN_MS;
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
    limits ? `It exceeds a limit of every Workers plan (${limits}).` : "It has no target edge.",
    "Prepare it with --targets edge and --table int4, or take a smaller model.",
  );
}

/** The setting `cpuLimitMs` of a project: a number of ms, or source text whose value is known only when it runs. */
export type CpuLimitSetting = number | { readonly unread: string };

/** Reads `cpuLimitMs` from the text of edge-settings.ts: a number, or a product of numbers. Returns undefined without it. */
export function cpuLimitSetting(settings: string): CpuLimitSetting | undefined {
  const expression = /^\s*cpuLimitMs:[ \t]*(.*?)[ \t]*(?:,?[ \t]*\/[/*].*|,?[ \t]*)$/m.exec(settings)?.[1];
  if (expression === undefined) return undefined;
  const factors = expression
    .split("*")
    .map((factor) => Number(factor.trim().replace(/(?<=\d)_(?=\d)/g, "") || Number.NaN));
  const product = factors.reduce((all, factor) => all * factor, 1);
  return Number.isFinite(product) ? product : { unread: expression };
}
