import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { childrenOf } from "../support/server/processes.ts";
import { debianRoot, hasDebianRoot } from "./machine.ts";
import { node24, ROOT, run } from "./packed.ts";

function whyNot(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "needs Linux and root";
  if (spawnSync("buildah", ["--version"]).status !== 0) return "needs Debian's buildah";
  return hasDebianRoot() ? undefined : "needs Debian's mmdebstrap";
}
const reason = whyNot();
if (reason !== undefined) console.warn(`SKIPPED: test/packaging/container-image.test.ts ${reason}`);

const directory = mkdtempSync(join(tmpdir(), "nuthatch-image-"));
const buildah = (...args: readonly string[]): string =>
  run("buildah", ["--root", join(directory, "store"), "--runroot", join(directory, "run"), ...args], {
    cwd: ROOT,
    env: { ...process.env, BUILDAH_ISOLATION: "chroot", TMPDIR: directory },
  });
const BASE = "localhost/node-of-this-test:24";
const AUTHORITIES = "etc/ssl/certs/ca-certificates.crt";

/** Makes an image in place of Debian's with Node 24, which no registry of this machine has. */
function makeBase(): void {
  const root = join(directory, "base");
  mkdirSync(root);
  run("tar", ["-xf", debianRoot(), "-C", root, "--exclude=./dev"]);
  mkdirSync(join(root, "dev"));
  copyFileSync(node24() ?? process.execPath, join(root, "usr/bin/node"));
  const modules = join(root, "usr/lib/node_modules");
  cpSync(join(run("npm", ["root", "--global"]).trim(), "npm"), join(modules, "npm"), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(root, "usr/bin/npm"));
  // The registry of this machine may have a private certificate.
  if (existsSync(`/${AUTHORITIES}`)) copyFileSync(`/${AUTHORITIES}`, join(root, AUTHORITIES));
  const archive = join(directory, "base.tar");
  run("tar", ["-cf", archive, "-C", root, "."]);
  rmSync(root, { recursive: true });
  const container = buildah("from", "scratch").trim();
  buildah("add", "--quiet", container, archive, "/");
  const variables = [
    `NODE_EXTRA_CA_CERTS=/${AUTHORITIES}`,
    `npm_config_cafile=/${AUTHORITIES}`,
    "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
  ];
  buildah("config", ...variables.flatMap((one) => ["--env", one]), container);
  buildah("commit", "--quiet", container, BASE);
  rmSync(archive);
}

const build = (image: string, ...more: readonly string[]): string =>
  buildah(
    "bud",
    "--quiet",
    "--format",
    "docker",
    "--network",
    "host",
    "--pull-never",
    "--build-arg",
    `NODE_IMAGE=${BASE}`,
    ...more,
    "--file",
    "packaging/container/Containerfile",
    "--tag",
    image,
    ".",
  );

/** Runs a command in the root `$1`, read-only, with a volume at /data, as the account `$2`, without rights. */
const SCRIPT = `set -eu
root=$1; account=$2; shift 2
mount --bind "$root" "$root"; mount -o remount,bind,ro "$root"
mount -t tmpfs -o uid=$account,gid=$account,mode=755 none "$root/data"
mount -t tmpfs none "$root/tmp"
mount -t proc none "$root/proc"
mount -t tmpfs none "$root/dev"
for device in null zero random urandom; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
exec chroot "$root" setpriv --reuid=$account --regid=$account --clear-groups --inh-caps=-all --bounding-set=-all \\
  --no-new-privs env --chdir=/data "$@"`;

interface Settings {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
}

describe.skipIf(reason !== undefined)(`the image${reason === undefined ? "" : ` (skipped: ${reason})`}`, () => {
  let root: string;
  let settings: Settings;
  beforeAll(() => {
    makeBase();
    build("localhost/nuthatch:test");
    const container = buildah("from", "--pull-never", "localhost/nuthatch:test").trim();
    root = buildah("mount", container).trim();
    settings = JSON.parse(buildah("inspect", "--type", "image", "localhost/nuthatch:test")).Docker.config;
  }, 900_000);
  afterAll(() => {
    if (existsSync(join(directory, "store")))
      spawnSync("buildah", ["--root", join(directory, "store"), "--runroot", join(directory, "run"), "rm", "--all"]);
    // The mounts for the store.
    spawnSync("umount", ["--lazy", join(directory, "store/overlay")]);
    rmSync(directory, { recursive: true, force: true });
  });

  const start = (command: readonly string[], more: readonly string[]) => {
    const account = settings.User.split(":")[0] ?? "";
    const spaces = ["--mount", "--pid", "--fork", "--kill-child"];
    return spawn(
      "unshare",
      [...spaces, "sh", "-c", SCRIPT, "sh", root, account, "-i", ...settings.Env, ...more, ...command],
      {
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
  };

  test("has an account without rights, the built program, and no package that is for development", () => {
    expect(settings.User).toBe("10001:10001");
    expect(settings.Env).toContain("NUTHATCH_HOST=0.0.0.0");
    const modules = readdirSync(join(root, "opt/nuthatch/node_modules"));
    expect(modules).toContain("sharp");
    expect(modules.filter((name) => ["vitest", "typescript", "esbuild"].includes(name))).toEqual([]);
    expect(existsSync(join(root, "opt/nuthatch/dist/main.cjs"))).toBe(true);
  });

  test("serves with a read-only root as the first process, is healthy, and ends in order", async () => {
    const command = [...settings.Entrypoint, ...settings.Cmd];
    const child = start(command, ["NUTHATCH_PORT=0", "NUTHATCH_HOST=127.0.0.1"]);
    let log = "";
    const url = await new Promise<string>((resolve, reject) => {
      const look = (chunk: Buffer): void => {
        log += chunk.toString();
        const found = /Nuthatch is listening on (http:\/\/\S+?)\/?\s/.exec(log);
        if (found?.[1] !== undefined) resolve(found[1]);
      };
      child.stdout.on("data", look);
      child.stderr.on("data", look);
      child.once("exit", (code) => reject(new Error(`ended with ${code}:\n${log}`)));
    });
    const tile = await fetch(`${url}/xyz/topp:states/2/0/1.png`);
    expect([tile.status, tile.headers.get("content-type")], log).toEqual([200, "image/png"]);
    const health = async (port: string): Promise<unknown> => {
      const [, ...words] = settings.Healthcheck.Test;
      return (await once(start(words, [`NUTHATCH_PORT=${port}`]), "exit"))[0];
    };
    expect([await health(new URL(url).port), await health("9")]).toEqual([0, 1]);
    const ended = once(child, "exit");
    const [first = 0] = childrenOf(child.pid ?? 0);
    process.kill(first, "SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(log).not.toMatch(/EROFS|"level":"error"/);
  });

  test("without an account it does not listen beyond its own machine, and says what to do", async () => {
    const child = start([...settings.Entrypoint, ...settings.Cmd], ["NUTHATCH_PORT=0"]);
    let log = "";
    child.stderr.on("data", (chunk: Buffer) => {
      log += chunk.toString();
    });
    expect((await once(child, "exit"))[0]).toBe(78);
    expect(log).toContain("NUTHATCH_ADMIN_PASSWORD");
  });

  test("for arm64 the packages are those of that processor", () => {
    build("localhost/nuthatch-packages:arm64", "--target", "packages", "--build-arg", "TARGETARCH=arm64");
    const container = buildah("from", "--pull-never", "localhost/nuthatch-packages:arm64").trim();
    const modules = join(buildah("mount", container).trim(), "opt/nuthatch/node_modules");
    const natives = ["@img", "@libsql"].flatMap((scope) => readdirSync(join(modules, scope)));
    expect(natives.filter((name) => /^(?:sharp-)?linux/.test(name)).sort()).toEqual([
      "linux-arm64-gnu",
      "sharp-linux-arm64",
    ]);
  }, 600_000);
});
