import { execFile } from "node:child_process";
import { cp, mkdir, readFile, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { promisify } from "node:util";

const exec = promisify(execFile);

/** The image that a Dockerfile builds, as a folder. */
export interface Image {
  /** The registry's image that it was built from. */
  base: string;
  /** Folder that represents the image's `/`. */
  root: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  healthcheck: string[];
  entrypoint: string[];
  /** Arguments of the entrypoint, if `docker run` gives none. */
  command: string[];
}

interface Replay {
  dockerfile: string;
  /** The build context. Its .dockerignore applies. */
  context: string;
  /** An empty folder for the build stages. */
  into: string;
  /** Images that were built before: tag → image. */
  images?: Readonly<Record<string, Image>>;
  /** The environment of RUN steps. Variables of the stage override it. */
  env: Record<string, string>;
  /** Runs something else in place of a RUN step and returns true, or returns false to run the step in the shell. */
  substitute(command: string, folder: string): Promise<boolean>;
}

/**
 * Builds a Dockerfile without Docker. The steps use this machine's Node and shell instead of the base images.
 *
 * @throws Error at the first instruction that fails or is unknown
 */
export async function replayDockerfile(replay: Replay): Promise<Image> {
  const { dockerfile, context, into, env, substitute } = replay;
  const isIgnored = await readDockerignore(context);
  const stages = new Map(Object.entries(replay.images ?? {}));
  let image = newImage("scratch", into);
  const inImage = (path: string) => join(path.startsWith("/") ? image.root : join(image.root, image.workdir), path);

  const steps: Record<string, (text: string) => unknown> = {
    async FROM(text) {
      const [base = "", , name = "final"] = text.split(" ");
      const [parent, root] = [stages.get(base), join(into, name)];
      image = parent ? { ...parent, env: { ...parent.env }, root } : newImage(base, root);
      if (parent) await cp(parent.root, root, { recursive: true, verbatimSymlinks: true });
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
      if (from !== undefined && !stage) throw new Error(`COPY ${text}: there is no stage or image ${from}.`);
      const to = words.pop() ?? "";
      for (const source of words) {
        const path = join(stage?.root ?? context, source);
        if (!stage && isIgnored(source)) throw new Error(`COPY ${text}: .dockerignore excludes ${source}.`);
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
    ENTRYPOINT(text) {
      image.entrypoint = JSON.parse(text);
      image.command = [];
    },
    CMD(text) {
      image.command = JSON.parse(text);
    },
  };

  for (const [instruction, text] of parseDockerfile(await readFile(dockerfile, "utf8"))) {
    const step = steps[instruction];
    if (!step) throw new Error(`The instruction ${instruction} ${text} is not supported here.`);
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
  entrypoint: [],
  command: [],
});

/** Parses the instructions and their arguments. Skips comments and joins continued lines. */
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

/** Applies Docker's rules: a pattern matches a path and everything below it, and the last matching pattern wins. */
async function readDockerignore(context: string): Promise<(path: string) => boolean> {
  const lines = (await readFile(join(context, ".dockerignore"), "utf8")).split("\n");
  const rules = lines.filter((line) => line && !line.startsWith("#")).map(parseRule);
  return (path) => rules.findLast(({ covers }) => covers.test(path))?.ignores ?? false;
}

function parseRule(line: string): { ignores: boolean; covers: RegExp } {
  const pattern = RegExp.escape(line.replace("!", "")).replaceAll("\\*\\*\\/", "(?:.*/)?").replaceAll("\\*", "[^/]*");
  return { ignores: !line.startsWith("!"), covers: new RegExp(`^${pattern}(?:/|$)`) };
}
