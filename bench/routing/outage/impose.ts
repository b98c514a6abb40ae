import type { RequestListener } from "node:http";
import { json } from "node:stream/consumers";
import { type Access, startEmbed } from "#test/fixtures/start-embed.ts";
import type { Genuine, Impostor } from "./impostors.ts";

/**
 * Makes a listener that answers in the region's place. It asks the region for the genuine answer, which an impostor may
 * change. Everything but embeddings, as the state of health, is as in the region.
 *
 * @param asked called for each request for embeddings
 */
export const impose =
  (region: Access, impostor: Impostor, asked: () => void): RequestListener =>
  async (request, response) => {
    if (request.method !== "POST") {
      const answer = await fetch(`${region.url}${request.url}`);
      response.writeHead(answer.status).end(await answer.text());
      return;
    }
    asked();
    const { inputs } = (await json(request)) as { inputs: string[] };
    const { body } = await startEmbed(region, inputs).reply;
    impostor(response, JSON.parse(body.toString()) as Genuine);
  };
