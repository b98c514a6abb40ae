import { startEmbed } from "#test/fixtures/start-embed.ts";
import { KEY } from "./context.ts";

/** Returns the answer to a request for embeddings. Throws if it was refused. */
export async function embed(url: string, inputs: readonly string[], headers?: Readonly<Record<string, string>>) {
  const reply = await startEmbed({ url, key: KEY }, inputs, headers).reply;
  if (reply.status !== 200) throw new Error(`${url} answered ${reply.status}: ${reply.body}`);
  return reply;
}
