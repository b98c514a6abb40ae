import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pythonWith } from "../fixtures/python-with.ts";
import { startCeph } from "./ceph.ts";

/** An S3 server that takes the access key `id` with the secret `secret`. */
export interface S3Server {
  readonly name: string;
  /** Packages to install if the server is missing. */
  readonly missing?: () => string | undefined;
  /** Starts it at a port of 127.0.0.1. Returns what stops it. */
  start(folder: string, port: number): Promise<() => Promise<void>>;
}

async function running(process: ChildProcess): Promise<() => Promise<void>> {
  const ended = once(process, "exit");
  return async () => {
    process.kill();
    await ended;
  };
}

function isInstalled(command: string): boolean {
  try {
    execFileSync(command, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Packages of the last LocalStack that Python 3.11 runs, as they were then. */
const LOCALSTACK = [
  ...["localstack-core[base-runtime,runtime]==4.9.2", "moto-ext<5.1.13", "cbor2<5.8"],
  ...["service_identity==24.1.0", "cryptography==43.0.3", "pyopenssl==24.2.1"],
];

export const servers: readonly S3Server[] = [
  {
    name: "moto",
    async start(folder, port) {
      const python = await pythonWith(folder, ["moto[s3,server]"]);
      return running(spawn(python, ["-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" }));
    },
  },
  {
    name: "LocalStack",
    async start(folder, port) {
      const python = await pythonWith(folder, LOCALSTACK);
      const settings = {
        SERVICES: "s3",
        GATEWAY_LISTEN: `127.0.0.1:${port}`,
        LOCALSTACK_VOLUME_DIR: join(folder, "data"),
      };
      const offline = { DISABLE_EVENTS: "1", SKIP_SSL_CERT_DOWNLOAD: "1", DNS_ADDRESS: "0" };
      const env = { ...process.env, ...settings, ...offline };
      return running(spawn(python, ["-m", "localstack.runtime.main"], { cwd: folder, env, stdio: "ignore" }));
    },
  },
  {
    name: "Ceph",
    missing: () =>
      isInstalled("radosgw") && isInstalled("ceph-osd") && isInstalled("ceph-mon") && isInstalled("ceph")
        ? undefined
        : "apt-get install --no-install-recommends ceph-common ceph-mon ceph-osd radosgw",
    start: startCeph,
  },
];
