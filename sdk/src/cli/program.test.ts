import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { program } from "./program.ts";

const paths = (command: Command, path: readonly string[] = []): string[][] => [
  [...path],
  ...command.commands.flatMap((each) => paths(each, [...path, each.name()])),
];
const refusal = (args: readonly string[]) =>
  program.parseAsync(args, { from: "user" }).then(
    () => undefined,
    (error: unknown) => error,
  );

describe("wrong usage", () => {
  it.each(paths(program).map((path) => [path]))("is refused by %j, with the command's help", async (path) => {
    expect(await refusal([...path, "--bogus"])).toMatchObject({
      code: "usage_invalid",
      // Commands miss their mandatory options first.
      message: expect.stringMatching(/^There is no option --bogus\.$|^The option --.+ is missing\.$/),
      hint: expect.stringContaining(`See \`npx ${["bert-edge", ...path].join(" ")} --help\`.`),
    });
  });

  it("shows the arguments of a command that has no such option", async () => {
    expect(await refusal(["embed", "--model", "artifact"])).toMatchObject({
      message: "There is no option --model.",
      hint: "Usage: `bert-edge embed [options] <artifact>`. See `npx bert-edge embed --help`.",
    });
  });

  it.each([
    [["surgeon"], "There is no command surgeon.", "See `npx bert-edge --help`."],
    [["embd"], "There is no command embd.", "Did you mean embed? See `npx bert-edge --help`."],
    [
      ["keys", "new", "extra"],
      "There are too many arguments: extra. The command takes 0.",
      "See `npx bert-edge keys new --help`.",
    ],
    [
      ["keys", "hash", "--name", "a b"],
      /^--name <name> cannot be a b\. Use 1 to 64/,
      "See `npx bert-edge keys hash --help`.",
    ],
    [["embed"], "The argument <artifact> is missing.", "See `npx bert-edge embed --help`."],
    [["prepare", "x"], "The option --out <dir> is missing.", "See `npx bert-edge prepare --help`."],
    [["prepare", "x", "--out"], "The option --out <dir> has no value.", "See `npx bert-edge prepare --help`."],
    [
      ["completion", "tcsh"],
      "<shell> cannot be tcsh. Allowed choices are bash, zsh, fish.",
      "See `npx bert-edge completion --help`.",
    ],
  ])("says in a sentence what is wrong: %j", async (args, message, hint) => {
    expect(await refusal(args)).toMatchObject({
      code: "usage_invalid",
      message: typeof message === "string" ? message : expect.stringMatching(message),
      hint,
    });
  });

  it("has no hint for a code that is similar to nothing, and knows codes as messages show them", async () => {
    expect(await refusal(["explain", "surgeon"])).toMatchObject({
      message:
        "<code> cannot be surgeon. It is no error code, no reason and no figure. Error messages begin with their code.",
    });
    expect(await refusal(["explain", "input_to_long"])).toMatchObject({
      message: expect.stringMatching(/Similar: input_too_long\.$/),
    });
  });
});

describe("every command", () => {
  it.each(
    paths(program)
      .map((path) => path.join(" "))
      .filter((path) => path !== "" && path !== "keys"),
  )("%s takes --json", (path) => {
    const command = path.split(" ").reduce((from: Command | undefined, name) => {
      return from?.commands.find((each) => each.name() === name);
    }, program);
    expect(command?.options.map(({ long }) => long)).toContain("--json");
  });
});
