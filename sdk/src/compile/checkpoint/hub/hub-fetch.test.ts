import { describe, expect, it } from "vitest";
import { boundedFetch } from "./hub-fetch.ts";

const url = "https://hub.test/api";
const answering =
  (text: string): typeof fetch =>
  async () =>
    new Response(text, { headers: { link: "next" } });

describe("boundedFetch", () => {
  it("passes answers on, with their headers", async () => {
    const response = await boundedFetch(answering("[1]"))(url);
    expect(response.headers.get("link")).toBe("next");
    expect(await response.json()).toEqual([1]);
  });

  it("limits the bytes of all answers together", async () => {
    const send = boundedFetch(answering("12345"), { maxBytes: 10 });
    await send(url);
    await send(url);
    await expect(send(url)).rejects.toMatchObject({ code: "hub_answer_invalid" });
  });

  it("stops an answer without an end", async () => {
    const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(65_536));
    const send = boundedFetch(async () => new Response(new ReadableStream({ pull })));
    await expect(send(url)).rejects.toMatchObject({ message: "hub.test answered with more than 32 MB." });
  });

  it("limits the number of pages", async () => {
    const send = boundedFetch(answering("[]"), { maxAnswers: 2 });
    await send(url);
    await send(url);
    await expect(send(url)).rejects.toMatchObject({ message: "hub.test sent a list of more than 2 pages." });
  });
});
