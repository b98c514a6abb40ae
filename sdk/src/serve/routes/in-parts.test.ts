import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { nextTurn } from "../../artifact/next-turn.ts";
import { listResponse } from "./in-parts.ts";

const answerWith = (count: number, item: (index: number) => string, body: object = { a: 1, list: [], z: { y: 2 } }) =>
  new Hono().get("/", (c) => listResponse(c, [...Array(count).keys()], item, body)).request("/");

/** An item of 1,000 characters. */
const long = (index: number) => JSON.stringify(`${index}`.padEnd(998, "x"));

describe("listResponse", () => {
  it.each([0, 1, 2, 99, 100, 101, 1_000])("answers JSON with a list of %d items in order", async (count) => {
    const response = await answerWith(count, long);
    expect(response.headers.get("content-type")).toBe("application/json");
    const list = Array.from({ length: count }, (_, index) => JSON.parse(long(index)));
    expect(await response.json()).toEqual({ a: 1, list, z: { y: 2 } });
  });

  it("answers the list alone without a frame", async () => {
    const response = await new Hono().get("/", (c) => listResponse(c, [0, 1, 2], String)).request("/");
    expect(await response.json()).toEqual([0, 1, 2]);
  });

  it("is not confused by strings that look like the list", async () => {
    const body = { name: '"list":[]', list: [], other: '\\"list":[]' };
    expect(await (await answerWith(2, String, body)).json()).toEqual({ ...body, list: [0, 1] });
  });

  it("formats a long list while it is read, and lets others run between its parts", async () => {
    let formatted = 0;
    const response = await answerWith(1_000, (index) => {
      formatted++;
      return long(index);
    });
    expect(formatted).toBeLessThan(300);
    let turns = 0;
    let ended = false;
    const other = () => {
      turns++;
      if (!ended) setImmediate(other);
    };
    setImmediate(other);
    await response.text();
    ended = true;
    expect(formatted).toBe(1_000);
    expect(turns).toBeGreaterThan(2);
  });

  it("stops formatting when the reader goes", async () => {
    let formatted = 0;
    const response = await answerWith(10_000, (index) => {
      formatted++;
      return long(index);
    });
    const reader = (response.body as ReadableStream).getReader();
    await reader.read();
    await reader.cancel();
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(formatted).toBeLessThan(1_000);
  });
});
