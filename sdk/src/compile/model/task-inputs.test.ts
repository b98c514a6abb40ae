import { expect, it } from "vitest";
import { inputsOf } from "./task-inputs.ts";

const texts = ["a", "b", "c", "d"];

it("are texts for most tasks", () => {
  expect(inputsOf({ task: "tag", labels: ["O"] }, texts)).toEqual(texts);
  expect(inputsOf({ task: "classify", labels: ["yes"], input: "text" }, texts)).toEqual(texts);
});

it("are pairs of a text and the next one for question answering and cross-encoders", () => {
  const pairs = [
    ["a", "b"],
    ["b", "c"],
    ["c", "d"],
    ["d", "a"],
  ];
  expect(inputsOf({ task: "answer" }, texts)).toEqual(pairs);
  expect(inputsOf({ task: "classify", labels: ["yes"], input: "pair" }, texts)).toEqual(pairs);
  expect(inputsOf({ task: "answer" }, texts, 2)).toEqual([pairs[0], pairs[2]]);
});
