import { expect, it } from "vitest";
import { rustNumber } from "./vocabulary-table.ts";

it.each([
  [-11.899999618530273, -11.899999618530272],
  [-13.020679473876953, -13.020679473876951],
  [-13.182191848754883, -13.182191848754885],
  [-3.4635426998138428, -3.4635426998138428],
  [-0.5, -0.5],
  [0, 0],
  [1e-7, 1e-7],
  [123456.789, 123456.789],
  [2.5e-310, 2.5e-310],
  [1.7e300, 1.7e300],
])("reads %d as tokenizers 0.23.3 does", (written, read) => {
  expect(rustNumber(written)).toBe(read);
});
