import fc from "fast-check";
import { expect, it } from "vitest";
import { answerReader, type HttpAnswer, headerOf } from "./answer-reader.ts";

const withLength = (body: string) =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\nx-name: a value\r\n\r\n${body}`;
const inChunks = (...chunks: string[]) =>
  [
    "HTTP/1.1 503 Service Unavailable\r\ntransfer-encoding: chunked\r\n\r\n",
    ...chunks.map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`),
    "0\r\n\r\n",
  ].join("");

it("reads answers wherever they are cut", () => {
  const all = Buffer.from(withLength("") + inChunks("é\r\n\r\n", "0\r\n\r\n") + withLength("last"));
  fc.assert(
    fc.property(fc.array(fc.nat(all.length)), (cuts) => {
      const answers: HttpAnswer[] = [];
      const read = answerReader((answer) => answers.push(answer));
      const places = [0, ...cuts.sort((a, b) => a - b), all.length];
      places.forEach((place, i) => void read(all.subarray(places[i - 1] ?? 0, place)));
      expect(answers.map(({ status, body }) => [status, `${body}`])).toEqual([
        [200, ""],
        [503, "é\r\n\r\n0\r\n\r\n"],
        [200, "last"],
      ]);
    }),
  );
});

it("finds headers by their name", () => {
  const [head = ""] = withLength("").split("\r\n\r\n");
  expect(["content-length", "x-name", "name"].map((name) => headerOf(head, name))).toEqual(["0", "a value", undefined]);
});
