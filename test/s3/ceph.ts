import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "#sdk/cli/dev/ports.ts";

const exec = promisify(execFile);

/** Timeout of a command of Ceph, in ms. */
const COMMAND_MS = 120_000;

const FSID = "0b1a5a2e-0000-4000-8000-000000000001";

/** A cluster of one monitor and one daemon that keeps objects in memory, without replicas. */
const configOf = (folder: string, monitor: string) => `[global]
fsid = ${FSID}
mon initial members = a
mon host = ${monitor}
keyring = ${folder}/keyring
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon max pg per osd = 10000
mon data avail crit = 1
osd objectstore = memstore
memstore device bytes = 4294967296
run dir = ${folder}
mon data = ${folder}/mon
osd data = ${folder}/osd
log file = ${folder}/$name.log
admin socket = ${folder}/$name.$pid.asok
crash dir = ${folder}
mon cluster log file = ${folder}/cluster.log
[osd]
keyring = ${folder}/osd/keyring
`;

/**
 * Starts a Ceph cluster and its S3 gateway, from the programs that are installed.
 *
 * @param folder a new folder with a short path: sockets stand in it
 * @returns what stops the cluster
 */
export async function startCeph(folder: string, port: number): Promise<() => Promise<void>> {
  const monitor = `[v2:127.0.0.1:${await freePort()}]`;
  const config = join(folder, "ceph.conf");
  const env = { ...process.env, CEPH_CONF: config };
  for (const name of ["mon", "osd"]) await mkdir(join(folder, name));
  await writeFile(config, configOf(folder, monitor));
  const run = (command: string, ...args: string[]) => exec(command, args, { env, timeout: COMMAND_MS });
  const started: ChildProcess[] = [];
  const start = (command: string, ...args: string[]) =>
    void started.push(spawn(command, [...args, "-f"], { env, cwd: folder, stdio: "ignore" }));

  const [map, keyring] = [join(folder, "monmap"), join(folder, "keyring")];
  const everything = ["mon", "osd", "mgr"].flatMap((daemon) => ["--cap", daemon, "allow *"]);
  await run("monmaptool", "--create", "--fsid", FSID, "--addv", "a", monitor, map);
  await run("ceph-authtool", "--create-keyring", keyring, "--gen-key", "-n", "mon.", "--cap", "mon", "allow *");
  await run("ceph-authtool", keyring, "--gen-key", "-n", "client.admin", ...everything);
  await run("ceph-mon", "--mkfs", "-i", "a", "--monmap", map, "--keyring", keyring);
  start("ceph-mon", "-i", "a");
  const id = crypto.randomUUID();
  await run("ceph", "osd", "new", id);
  await run("ceph", "osd", "crush", "add", "osd.0", "1", "host=h", "root=default");
  const profile = ["mon", "allow profile osd", "mgr", "allow profile osd", "osd", "allow *"];
  await run("ceph", "auth", "get-or-create", "osd.0", ...profile, "-o", join(folder, "osd/keyring"));
  await run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", id);
  start("ceph-osd", "-i", "0");
  const keys = ["--access-key=id", "--secret-key=secret"];
  await run("radosgw-admin", "user", "create", "--uid=u", "--display-name=u", ...keys);
  start("radosgw", "-n", "client.admin", `--rgw-frontends=beast endpoint=127.0.0.1:${port}`);
  return async () => {
    const ended = started.map((each) => each.exitCode === null && once(each, "exit"));
    for (const each of started.toReversed()) each.kill("SIGKILL");
    await Promise.all(ended);
  };
}
