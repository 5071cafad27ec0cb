import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { childrenOf } from "../support/server/processes.ts";
import { until } from "../support/until.ts";
import { ROOT, run } from "./packed.ts";

/** A root file system of Debian with systemd, as an archive: it is made once, which takes minutes. */
const ARCHIVE = process.env["NUTHATCH_DEBIAN_ROOT"] ?? join(ROOT, "node_modules/.cache/debian-root.tar");
const PACKAGES = "systemd,systemd-sysv,init-system-helpers,adduser,ca-certificates";

/**
 * Boots systemd in a root file system in memory, with a separate network. `$1`: the archive, `$2`: a directory to show.
 */
const BOOT = `set -eu
archive=$1; shown=$2; at=$3
mount -t tmpfs -o size=4g,mode=755 none "$at"
tar -xf "$archive" -C "$at" --exclude=./dev
cd "$at"
mkdir -p dev packages old
mount -t proc proc proc
mount -t tmpfs none run
mount -t tmpfs none tmp
mount -t tmpfs -o mode=755 none dev
for device in null zero full random urandom tty; do touch "dev/$device"; mount --bind "/dev/$device" "dev/$device"; done
mkdir dev/pts dev/shm; mount -t devpts -o newinstance,ptmxmode=0666 none dev/pts; ln -s pts/ptmx dev/ptmx
mount -t tmpfs none dev/shm
mount --rbind /sys sys; mount --make-rslave sys
mount --bind "$shown" packages
# A unit with a view of its own of the file system needs a root that is a mount.
mount --make-rprivate /
pivot_root . old
cd /; umount -l old
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --show-status=no`;

/** Returns why this machine cannot boot a machine in a container; undefined: it can. */
export function whyNoMachine(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "needs Linux and root, for namespaces";
  if (!hasDebianRoot()) return "needs Debian's mmdebstrap";
  if (spawnSync("dpkg-deb", ["--version"]).status !== 0) return "needs Debian's dpkg-deb";
  const probe = ["--mount", "--pid", "--fork", "--uts", "--ipc", "--net", "--cgroup", "true"];
  return spawnSync("unshare", probe).status === 0 ? undefined : "namespaces cannot be made here";
}

/** Returns the archive of the root file system, which the first test that needs it makes. */
export function debianRoot(): string {
  if (existsSync(ARCHIVE)) return ARCHIVE;
  mkdirSync(dirname(ARCHIVE), { recursive: true });
  // The suffix selects the format of mmdebstrap's output.
  const made = `${ARCHIVE}.${process.pid}.tar`;
  run("mmdebstrap", ["--quiet", "--variant=minbase", `--include=${PACKAGES}`, "bookworm", made]);
  renameSync(made, ARCHIVE);
  return ARCHIVE;
}

/** Returns whether the root file system is there or can be made. */
export const hasDebianRoot = (): boolean => existsSync(ARCHIVE) || spawnSync("mmdebstrap", ["--version"]).status === 0;

/** A machine in namespaces, with systemd as its first process. */
export interface Machine extends AsyncDisposable {
  /** Runs a command of the shell to its end, and returns its output. */
  sh(command: string): string;
}

/**
 * Boots a machine.
 * @param shown a directory of this machine, which the booted machine has as `/packages`
 * @param at an empty directory, where its root is mounted
 */
export async function startMachine(shown: string, at: string): Promise<Machine> {
  const archive = debianRoot();
  mkdirSync(at, { recursive: true });
  const spaces = ["--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc", "--net", "--cgroup"];
  const child = spawn("unshare", [...spaces, "sh", "-c", BOOT, "sh", archive, shown, at], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const first = await until("the first process runs", async () => childrenOf(child.pid ?? 0)[0]);
  const enter = ["--target", String(first), "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup"];
  const inside = (command: string) =>
    spawnSync("nsenter", [...enter, "sh", "-c", command], {
      encoding: "utf8",
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
    });
  await until("systemd has booted", async () => {
    if (child.exitCode !== null) throw new Error(`the machine ended with ${child.exitCode}:\n${log}`);
    return /running|degraded/.test(inside("systemctl is-system-running").stdout) ? true : undefined;
  });
  return {
    sh(command) {
      const { status, stdout, stderr } = inside(command);
      if (status !== 0) throw new Error(`${command} ended with ${status}:\n${stdout}${stderr}`);
      return stdout;
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      process.kill(first, "SIGKILL");
      await ended;
    },
  };
}
