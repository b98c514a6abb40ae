import { describe, expect, it } from "vitest";
import { parseFlags } from "./flags.ts";

describe("parseFlags", () => {
  it("leaves open what no flag says", () => {
    expect(parseFlags([])).toEqual({
      folder: undefined,
      model: undefined,
      plan: undefined,
      regions: ["none", "aws", "container"],
      packageManager: undefined,
      install: true,
      git: true,
      yes: false,
      help: false,
      version: false,
    });
  });

  it("reads every flag", () => {
    const args = "api --template edge+region --region aws --model own --plan paid --package-manager bun --no-install";
    expect(parseFlags([...args.split(" "), "--no-git", "-y"])).toEqual({
      folder: "api",
      model: "own",
      plan: "paid",
      regions: ["aws"],
      packageManager: "bun",
      install: false,
      git: false,
      yes: true,
      help: false,
      version: false,
    });
  });

  it.each([
    [["--template", "edge"], ["none"]],
    [
      ["--template", "edge+region"],
      ["container", "aws"],
    ],
    [["--region", "container"], ["container"]],
  ])("%j allows the regions %j", (args, regions) => {
    expect(parseFlags(args).regions).toEqual(regions);
  });

  it.each<[string[], string, RegExp]>([
    [["--modle", "own", "--fast", "-q"], "flag_unknown", /--modle, --fast, -q/],
    [["--no-instal"], "flag_unknown", /no flag --no-instal\./],
    [["--add", "region", "--region", "none"], "flag_invalid", /--region none is for new projects/],
    [["--add", "region", "--plan", "paid"], "flag_invalid", /--plan is for new projects/],
    [["--add", "model"], "flag_invalid", /--add cannot be model/],
    [["--model"], "flag_invalid", /--model/],
    [["--no-git=yes"], "flag_invalid", /--no-git/],
    [["--plan", "cheap"], "flag_invalid", /--plan cannot be cheap/],
    [["--template", "edge", "--region", "aws"], "flag_invalid", /--template edge and --region aws contradict/],
    [["one", "two"], "flag_invalid", /one, two/],
  ])("refuses %j with %s", (args, code, message) => {
    expect(() => parseFlags(args)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
  });
});
