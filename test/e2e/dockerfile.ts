import { execFile } from "node:child_process";
import { cp, mkdir, readFile, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { promisify } from "node:util";

const exec = promisify(execFile);

/** The image of a Dockerfile, in a folder instead of a container. */
export interface Image {
  base: string;
  /** The folder that stands for the image's `/`. */
  root: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  healthcheck: string[];
  command: string[];
}

interface Replay {
  dockerfile: string;
  /** The build context. Its .dockerignore applies. */
  context: string;
  /** An empty folder for the stages. */
  into: string;
  /** The environment of RUN steps. Variables of the stage override it. */
  env: Record<string, string>;
  /** Replaces a RUN step and returns true, or returns false to run it in the shell. */
  substitute(command: string, folder: string): Promise<boolean>;
}

/**
 * Runs a Dockerfile without Docker. Instead of the base images, the steps use this machine's Node and shell.
 *
 * @throws Error at the first instruction that fails or is unknown
 */
export async function replayDockerfile({ dockerfile, context, into, env, substitute }: Replay): Promise<Image> {
  const isIgnored = await readDockerignore(context);
  const stages = new Map<string, Image>();
  let image = newImage("scratch", into);
  const inImage = (path: string) => join(path.startsWith("/") ? image.root : join(image.root, image.workdir), path);

  const steps: Record<string, (text: string) => unknown> = {
    async FROM(text) {
      const [base = "", , name = "final"] = text.split(" ");
      image = newImage(base, join(into, name));
      stages.set(name, image);
    },
    async WORKDIR(text) {
      image.workdir = text;
      await mkdir(inImage("."), { recursive: true });
    },
    ENV(text) {
      for (const pair of text.split(" ")) {
        const [name = "", value = ""] = pair.split("=");
        image.env[name] = value;
      }
    },
    async COPY(text) {
      const words = text.split(" ");
      const from = words[0]?.startsWith("--from=") ? words.shift()?.slice("--from=".length) : undefined;
      const stage = from === undefined ? undefined : stages.get(from);
      if (from !== undefined && !stage) throw new Error(`COPY ${text}: there is no stage ${from}`);
      const to = words.pop() ?? "";
      for (const source of words) {
        const path = join(stage?.root ?? context, source);
        if (!stage && isIgnored(source)) throw new Error(`COPY ${text}: .dockerignore keeps ${source} out`);
        const isFolder = (await stat(path)).isDirectory();
        await cp(path, inImage(to.endsWith("/") && !isFolder ? join(to, basename(source)) : to), {
          recursive: true,
          verbatimSymlinks: true,
          filter: (file) => stage !== undefined || !isIgnored(relative(context, file)),
        });
      }
    },
    async RUN(text) {
      const folder = inImage(".");
      if (await substitute(text, folder)) return;
      await exec("sh", ["-c", text], { cwd: folder, env: { ...env, ...image.env } });
    },
    USER: (text) => {
      image.user = text;
    },
    EXPOSE() {},
    HEALTHCHECK(text) {
      image.healthcheck = JSON.parse(text.replace(/^.*?CMD /, ""));
    },
    CMD(text) {
      image.command = JSON.parse(text);
    },
  };

  for (const [instruction, text] of parseDockerfile(await readFile(dockerfile, "utf8"))) {
    const step = steps[instruction];
    if (!step) throw new Error(`This replay does not know ${instruction} ${text}`);
    await step(text);
  }
  return image;
}

const newImage = (base: string, root: string): Image => ({
  base,
  root,
  workdir: "/",
  env: {},
  user: "root",
  healthcheck: [],
  command: [],
});

/** Reads the instructions with their arguments, without comments, and with continued lines joined. */
function parseDockerfile(text: string): [instruction: string, text: string][] {
  return text
    .replace(/^\s*#.*\n/gm, "")
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [instruction = "", ...words] = line.trim().split(/\s+/);
      return [instruction, words.join(" ")];
    });
}

/** Applies Docker's rules: a pattern covers a path and everything below it, and the last matching pattern decides. */
async function readDockerignore(context: string): Promise<(path: string) => boolean> {
  const lines = (await readFile(join(context, ".dockerignore"), "utf8")).split("\n");
  const rules = lines.filter((line) => line && !line.startsWith("#")).map(parseRule);
  return (path) => rules.findLast(({ covers }) => covers.test(path))?.ignores ?? false;
}

function parseRule(line: string): { ignores: boolean; covers: RegExp } {
  const pattern = RegExp.escape(line.replace("!", "")).replaceAll("\\*\\*\\/", "(?:.*/)?").replaceAll("\\*", "[^/]*");
  return { ignores: !line.startsWith("!"), covers: new RegExp(`^${pattern}(?:/|$)`) };
}
