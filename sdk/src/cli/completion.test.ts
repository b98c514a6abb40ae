import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { completionScript, type Shell } from "./completion.ts";
import { program } from "./program.ts";

const isInstalled = (shell: Shell) => spawnSync(shell, ["--version"]).status === 0;

/** Each asks a real shell which words complete the last word. */
const completed: Readonly<Record<Shell, (words: readonly string[]) => string[]>> = {
  bash(words) {
    const call = `COMP_WORDS=(bert-edge ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _bert_edge`;
    return linesOf("bash", `${completionScript("bash", program)}\n${call}; printf '%s\\n' "\${COMPREPLY[@]}"`);
  },
  // bashcompinit calls the function with arrays that begin at 0. zsh itself then leaves out what does not fit the word.
  zsh(words) {
    const call = `emulate -L ksh; COMP_WORDS=(bert-edge ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _bert_edge`;
    const script = `${completionScript("zsh", program)}\nask() { ${call}; print -l -- "\${COMPREPLY[@]}" }; ask`;
    return linesOf("zsh", script).filter((word) => word.startsWith(words.at(-1) ?? ""));
  },
  fish: (words) =>
    linesOf("fish", `${completionScript("fish", program)}\ncomplete -C 'bert-edge ${words.join(" ")}'`).map(
      (line) => line.split("\t")[0] ?? "",
    ),
};

const linesOf = (shell: Shell, script: string): string[] =>
  spawnSync(shell, ["-c", script], { encoding: "utf8", env: { ...process.env, HOME: "/nonexistent" } })
    .stdout.split("\n")
    .filter((line) => line !== "");

describe.each(["bash", "zsh", "fish"] as const)("completion in %s", (shell) => {
  it.skipIf(!isInstalled(shell)).each([
    [["pre"], ["prepare"]],
    [["publish", "--end"], ["--endpoint"]],
    [["keys", "n"], ["new"]],
    [
      ["keys", "new", "--"],
      ["--help", "--json", "--name"],
    ],
    [
      ["completion", ""],
      ["bash", "fish", "zsh"],
    ],
    [["quantize", "x", "--table", "int4"], ["int4"]],
    // A folder can have the name of a command.
    [["verify", "keys", "--st"], ["--sts"]],
  ])("%j gives %j", (words, expected) => {
    expect(completed[shell](words).sort()).toEqual(expected);
  });

  it("is printed alone or in a JSON document", async () => {
    const { code, stdout, stderr } = await runCommandLine(["completion", shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(`${completionScript(shell, program).trimEnd()}\n`);
    const { stdout: json } = await runCommandLine(["completion", shell, "--json"]);
    expect(JSON.parse(json)).toEqual({ shell, script: stdout.trimEnd() });
  });

  it("has every command and option", () => {
    const script = completionScript(shell, program);
    for (const command of program.commands) {
      expect(script).toContain(command.name());
      for (const { long } of command.options)
        expect(script).toContain(shell === "fish" ? `-l ${long?.slice(2)}` : long);
    }
  });
});
