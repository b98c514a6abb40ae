import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { freePort, isFree } from "./ports.ts";

async function listenOn(port: number): Promise<void> {
  const server = createServer().listen(port, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
}

describe("isFree", () => {
  it("tells whether nothing listens at a port", async () => {
    const port = await freePort();
    expect(await isFree(port)).toBe(true);
    await listenOn(port);
    expect(await isFree(port)).toBe(false);
  });
});
