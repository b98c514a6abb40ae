import { join } from "node:path";
import { freePort } from "#sdk/cli/dev/ports.ts";
import { startService } from "#sdk/cli/dev/service.ts";
import type { Service } from "#sdk/cli/process-group.ts";
import { s3Env } from "../fixtures/object-storage.ts";
import type { Image } from "./dockerfile.ts";
import type { PublishedModel } from "./published-model.ts";

export interface RunningImage extends Service {
  readonly url: string;
  readonly port: string;
}

/** Variables with which the region serves a published model to the owner of one API key. */
export const regionEnv = ({ manifest, access }: PublishedModel, apiKey: string): Record<string, string> => ({
  ...s3Env(access),
  MODEL: manifest.name,
  AWS_REGION: access.region,
  API_KEYS: apiKey,
});

interface StartOptions {
  /** What `docker run` gives after the image's name, in place of the image's own command. */
  args?: readonly string[];
  onOutput?: (line: string) => void;
}

/**
 * Starts the region's image as `docker run` does.
 *
 * @param env variables that override those of the image
 */
export async function startImage(
  image: Image,
  env: Readonly<Record<string, string>>,
  { args = image.command, onOutput = () => {} }: StartOptions = {},
): Promise<RunningImage> {
  const port = `${await freePort()}`;
  const url = `http://127.0.0.1:${port}`;
  const [, script = "", ...all] = [...image.entrypoint, ...args];
  const service = await startService({
    name: "region",
    script,
    args: all,
    cwd: join(image.root, image.workdir),
    env: { ...image.env, PORT: port, ...env },
    ready: { url: `${url}/ready`, status: 200, withinMs: 20_000 },
    onOutput,
  });
  return { ...service, url, port };
}
