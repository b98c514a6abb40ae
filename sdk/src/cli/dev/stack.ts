import { join } from "node:path";
import { openFolder } from "../../storage/folder-artifact.ts";
import { type Published, publish } from "../../storage/publish.ts";
import { s3Publisher } from "../../storage/s3-publisher.ts";
import { startObjectStorage } from "./object-storage.ts";
import { freePort, packageFile, type Service, startService } from "./process.ts";

const START_MS = 60_000;

export interface StackOptions {
  /** The project folder, with functions/, infra/ and node_modules/. */
  root: string;
  /** The artifact folder to publish and serve. */
  artifact: string;
  /** Port of the edge. If this port is in use, the edge gets another port. Default: any free port. */
  port?: number;
  onStage?: (stage: string) => void;
  onOutput?: (service: string, text: string) => void;
}

export interface Stack {
  readonly edgeURL: string;
  readonly regionURL: string;
  readonly apiKey: string;
  readonly regionKey: string;
  readonly published: Published;
  readonly services: { readonly region: Service; readonly edge: Service };
  /** Stops all services and deletes the published artifact. */
  stop(): Promise<void>;
}

/**
 * Starts the whole system on this machine: an S3 server with the published artifact, the region in Node, and the edge
 * in workerd. If one part fails to start, all others are stopped.
 *
 * @throws BertEdgeError `service_failed`, `package_missing`, and the errors of `publish`
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { root, artifact, port, onStage = () => {}, onOutput = () => {} } = options;
  const started: Service[] = [];
  const stop = async () => void (await Promise.all(started.map((service) => service.stop())));
  const start = async (name: string, run: Omit<Parameters<typeof startService>[0], "name" | "cwd">) => {
    onStage(`start ${name}`);
    const service = await startService({ name, cwd: root, onOutput: (text) => onOutput(name, text), ...run });
    started.push(service);
    return service;
  };
  const regionPort = await freePort();
  const regionURL = `http://127.0.0.1:${regionPort}`;
  const [apiKey, regionKey] = [crypto.randomUUID(), crypto.randomUUID()];

  try {
    onStage("start object storage");
    const s3 = await startObjectStorage(root);
    started.push(s3);

    onStage("publish");
    const published = await publish(await openFolder(artifact), s3Publisher(s3.access));
    const settings = {
      MODEL: published.name,
      S3_ENDPOINT: s3.access.endpoint,
      S3_BUCKET: s3.access.bucket,
      S3_ACCESS_KEY_ID: s3.access.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.access.secretAccessKey,
    };

    const region = await start("region", {
      script: join(root, "functions/region.ts"),
      env: {
        ...settings,
        PORT: `${regionPort}`,
        API_KEYS: regionKey,
        PROVIDERS: process.env["PROVIDERS"] ?? "cpu",
      },
      ready: { url: `${regionURL}/ready`, status: 200, withinMs: START_MS },
    });

    const edgePort = await freePort(port);
    const edgeURL = `http://127.0.0.1:${edgePort}`;
    const vars = { ...settings, API_KEYS: apiKey, REGION_URL: regionURL, REGION_KEY: regionKey };
    const edge = await start("edge", {
      script: packageFile(root, "wrangler/bin/wrangler.js"),
      args: [
        ...["dev", "--config", "infra/wrangler.s3.toml", "--local"],
        ...["--ip", "127.0.0.1", "--port", `${edgePort}`, "--inspector-port", `${await freePort()}`],
        "--show-interactive-dev-session=false",
        ...Object.entries(vars).flatMap(([name, value]) => ["--var", `${name}:${value}`]),
      ],
      env: { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" },
      ready: { url: `${edgeURL}/ready`, status: 200, withinMs: START_MS },
    });

    return { edgeURL, regionURL, apiKey, regionKey, published, services: { region, edge }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
