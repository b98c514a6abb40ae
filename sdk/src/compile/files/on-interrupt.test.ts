import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

const program = `
import { writeSync } from "node:fs";
import { onInterrupt } from "./on-interrupt.ts";
const say = (text) => writeSync(1, text + " ");
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
const listeners = () => say(signals.map((signal) => process.listenerCount(signal)).join(""));
const cancels = Array.from({ length: 20 }, (_, i) => onInterrupt(() => say(i)));
listeners();
for (const cancel of cancels) cancel();
listeners();
const clean = () => say("same");
const [one, other] = [onInterrupt(clean), onInterrupt(clean)];
one();
one();
for (let i = 0; i < 3; i++) onInterrupt(() => say(i));
listeners();
process.kill(process.pid, process.argv[1]);
setTimeout(() => say("was not interrupted"), 60_000);
`;

it.each(["SIGINT", "SIGTERM", "SIGHUP"])(
  "%s runs what is not cancelled, last first and once, and ends the process; each signal has one listener",
  (signal) => {
    const args = ["--input-type=module", "--eval", program, signal];
    const {
      signal: by,
      stdout,
      stderr,
    } = spawnSync(process.execPath, args, {
      cwd: import.meta.dirname,
      encoding: "utf8",
    });
    expect({ by, stdout, stderr }).toEqual({ by: signal, stdout: "111 000 111 2 1 0 same ", stderr: "" });
  },
);
