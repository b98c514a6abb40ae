import type { RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import type { Access } from "#test/fixtures/start-embed.ts";
import { startPost } from "#test/fixtures/start-post.ts";
import type { Genuine, Impostor } from "./impostors.ts";

/**
 * Makes a listener that answers in the region's place. It asks the region for the genuine answer, which an impostor may
 * change. Everything but outputs, as the state of health, is as in the region.
 *
 * @param asked called for each request for outputs
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
    const headers = { authorization: `Bearer ${region.key}` };
    const { body } = await startPost(`${region.url}${request.url}`, { headers, body: await text(request) }).reply;
    impostor(response, JSON.parse(body.toString()) as Genuine);
  };
