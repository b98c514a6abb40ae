import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { PublishableArtifact } from "../../artifact/artifact.ts";
import type { Manifest } from "../../artifact/manifest.ts";
import { fsStore } from "../../storage/fs.ts";
import { type Published, publish } from "../../storage/publish.ts";
import { firstPlainKey } from "../api-key.ts";
import { disposableFolder } from "../disposable-folder.ts";
import { openLocalR2 } from "../local-r2.ts";
import type { Service } from "../process-group.ts";
import { packageFile, WRANGLER_STATE } from "../wrangler/installed.ts";
import { developerVars } from "../wrangler/variables.ts";
import { keptRunning } from "./kept-running.ts";
import { freePort } from "./ports.ts";
import { edgeScript, engineOf, type Project } from "./project.ts";
import { type ServiceOptions, startService } from "./service.ts";

const START_MS = 60_000;

export interface StackOptions {
  project: Project;
  /** The models to serve. All need the same engine at the edge. The first is the default. */
  artifacts: readonly PublishableArtifact[];
  /** Port of the edge, or a function that chooses it right before the edge starts. Default: any free port. */
  port?: number | (() => Promise<number>);
  /** wrangler's folder of local state. Default: the one that stock `wrangler dev` uses. */
  state?: string;
  onStage?: (stage: string) => void;
  /** Called with each line that a service prints. */
  onOutput?: (service: string, line: string) => void;
}

/** URL and API key of a tier. */
interface Access {
  readonly url: string;
  readonly key: string;
}

export interface Stack {
  readonly edge: Access;
  /** Whether the edge's key was made for this start, because the developer has none. */
  readonly keyIsNew: boolean;
  /** Undefined if the project has no region. */
  readonly region: Access | undefined;
  /** The models, in the order of `artifacts`. */
  readonly published: readonly Published[];
  /** Resolves to the first service that ends. */
  readonly ended: Promise<Service>;
  readonly services: { readonly region: Service | undefined; readonly edge: Service };
  /** Stops all services. */
  stop(): Promise<void>;
}

/**
 * Runs a project on this machine: the edge in workerd, which reads the artifacts from wrangler's local R2, and the region
 * in Node, which reads them from a folder. Both restart when their code changes. The region also restarts when its process has
 * ended. If one of them fails to start, the other is stopped.
 *
 * @throws BertEdgeError `project_invalid`, `service_failed`, `package_missing`, and the errors of `publish`
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const {
    project,
    artifacts,
    port = freePort,
    state = WRANGLER_STATE,
    onStage = () => {},
    onOutput = () => {},
  } = options;
  const { root } = project;
  const script = edgeScript(project, engineOf(artifacts));
  const namesOf = (served: typeof artifacts) => served.map(({ manifest }) => manifest.name).join(",");
  const { vars: own } = developerVars(root, project.environment.name);
  const ownKey = firstPlainKey(own["API_KEYS"] ?? "");
  onStage("publish to the local R2");
  const published = await publishToLocalR2(options);
  // Ports are chosen only now. Preparing and publishing can take minutes, in which another program could take a free port.
  const [edgePort, regionPort] = [typeof port === "number" ? port : await port(), await freePort()];
  const edge: Access = {
    url: `http://127.0.0.1:${edgePort}`,
    key: ownKey ?? crypto.randomUUID(),
  };
  const region: Access | undefined = project.region
    ? { url: `http://127.0.0.1:${regionPort}`, key: crypto.randomUUID() }
    : undefined;

  const started: Service[] = [];
  const folder = disposableFolder("dev");
  const stop = async () => {
    await Promise.all(started.map((service) => service.stop()));
    folder[Symbol.dispose]();
  };
  const start = async (name: string, run: Omit<ServiceOptions, "name" | "cwd">, begin = startService) => {
    const service = await begin({ name, cwd: root, onOutput: (line) => onOutput(name, line), ...run });
    started.push(service);
    return service;
  };

  /** @param when whether requests to `/ready` may begin. Each makes the Worker ask its region, and avoid a failing region for a while. */
  const startEdge = async (when: () => boolean) => {
    // Arguments of a process are visible to all users of a machine. This file is not.
    const secrets = join(folder.path, "edge.env");
    const vars = {
      ...own,
      MODEL: namesOf(artifacts),
      // Empty, because the object with the deployment's API keys is in its store, not on this machine.
      KEYS_OBJECT: "",
      // The model is published here without a signature.
      MODEL_SIGNERS: "any",
      ...(ownKey === undefined && { API_KEYS: edge.key }),
      ...(region && { REGION_URL: region.url, REGION_KEY: region.key }),
    };
    await writeFile(secrets, envFile(vars), { mode: 0o600 });
    return start("edge", {
      script: packageFile(root, "wrangler", "bin/wrangler.js"),
      args: [
        ...["dev", ...(project.built === undefined ? [script, "--config", project.config] : [])],
        ...["--local", "--persist-to", resolve(root, state)],
        // With --env-file, wrangler does not read .env. An environment that .env names is therefore given as --env.
        ...["--env", project.environment.name ?? "", "--env-file", secrets],
        ...["--ip", "127.0.0.1", "--port", `${edgePort}`, "--inspector-port", `${await freePort()}`],
        "--show-interactive-dev-session=false",
      ],
      env: { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" },
      ready: {
        url: `${edge.url}/ready`,
        status: 200,
        withinMs: START_MS,
        when,
        absent: (status) => ({
          message: `The Worker runs, but GET /ready answers ${status}: its routes are not those of createEdgeApp. \`bert-edge dev\` needs them at the root.`,
          hint: `Run this Worker with wrangler alone: \`npx bert-edge publish <artifact> --to r2-local:${project.bucket}\`, then \`npx wrangler dev\`.`,
        }),
      },
    });
  };

  const startRegion = async (script: string, { url, key }: Access) => {
    const objects = join(folder.path, "models");
    const regional = artifacts.filter(({ manifest }) => isRegional(manifest));
    for (const artifact of regional) await publish(artifact, fsStore(objects));
    const run = {
      script,
      env: {
        MODEL: namesOf(regional),
        MODELS_FOLDER: objects,
        HOST: new URL(url).hostname,
        PORT: new URL(url).port,
        API_KEYS: key,
        PROVIDERS: process.env["PROVIDERS"] ?? "cpu",
      },
      ready: {
        url: `${url}/ready`,
        status: 200,
        withinMs: START_MS,
        absent: (status: number) => ({
          message: `The region runs, but GET /ready answers ${status}: its routes are not those of createRegionApp.`,
          hint: `Serve the app of createRegionApp at the root, in ${script}.`,
        }),
      },
    };
    return start("region", run, keptRunning);
  };

  try {
    onStage(region ? "start edge and region" : "start edge");
    const regionStart = project.region && region ? startRegion(project.region, region) : Promise.resolve(undefined);
    let regionHasStarted = false;
    const services = await Promise.allSettled([
      startEdge(() => regionHasStarted),
      regionStart.finally(() => {
        regionHasStarted = true;
      }),
    ]);
    const [edgeService, regionService] = services.map((service) => {
      if (service.status === "rejected") throw service.reason;
      return service.value;
    }) as [Service, Service | undefined];
    const ended = Promise.race(started.map((service) => service.ended.then(() => service)));
    const keyIsNew = ownKey === undefined;
    return { edge, keyIsNew, region, published, ended, services: { edge: edgeService, region: regionService }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Whether a region can serve a model. */
export const isRegional = ({ targets }: Manifest): boolean =>
  targets["regional-cpu"] !== undefined || targets["regional-gpu"] !== undefined;

async function publishToLocalR2({ project, artifacts, state }: StackOptions): Promise<Published[]> {
  await using store = await openLocalR2({ root: project.root, bucket: project.bucket, state });
  const published: Published[] = [];
  for (const artifact of artifacts) published.push(await publish(artifact, store));
  return published;
}

/**
 * Returns the content of a file for wrangler's `--env-file`. Quotes each value, and escapes `$`: wrangler would otherwise
 * replace `$NAME` in a value by another variable.
 */
export const envFile = (vars: Readonly<NodeJS.Dict<string>>): string =>
  Object.entries(vars)
    .map(([name, value = ""]) => `${name}=${quoted(value.replaceAll("$", "\\$"))}\n`)
    .join("");

/** Quotes a value. A value cannot contain all three quotes: in files of this format, nothing escapes a quote. */
function quoted(value: string): string {
  const quote = ["'", "`", '"'].find((each) => !value.includes(each)) ?? "'";
  return `${quote}${value}${quote}`;
}
