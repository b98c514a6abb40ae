import { join } from "node:path";
import { freePort, type Service, startService } from "#sdk/cli/dev/process.ts";
import { s3Env } from "../fixtures/object-storage.ts";
import type { Image } from "./dockerfile.ts";
import type { PublishedModel } from "./published-model.ts";

export interface RunningImage extends Service {
  readonly url: string;
  readonly port: string;
}

/** Starts the command of the region's image, with a published model and one API key. */
export async function startImage(
  image: Image,
  { manifest, access }: PublishedModel,
  apiKey: string,
): Promise<RunningImage> {
  const port = `${await freePort()}`;
  const url = `http://127.0.0.1:${port}`;
  const [, script = "", ...args] = image.command;
  const service = await startService({
    name: "region",
    script,
    args,
    cwd: join(image.root, image.workdir),
    env: {
      ...image.env,
      ...s3Env(access),
      PORT: port,
      MODEL: manifest.name,
      AWS_REGION: access.region,
      API_KEYS: apiKey,
    },
    ready: { url: `${url}/ready`, status: 200, withinMs: 20_000 },
  });
  return { ...service, url, port };
}
