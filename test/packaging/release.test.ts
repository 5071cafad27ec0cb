import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { isFull } from "../support/full.ts";
import { ROOT, run } from "./packed.ts";

const hasMinisign = (() => {
  try {
    run("minisign", ["-v"]);
    return true;
  } catch {
    return false;
  }
})();
if (!hasMinisign) console.warn("SKIPPED: signatures in test/packaging/release.test.ts need Debian's minisign");

// On the file system of the packages, so that a copy can have them by hard links.
mkdirSync(join(ROOT, ".cache"), { recursive: true });
const directory = mkdtempSync(join(ROOT, ".cache/release-"));
const temporary = mkdtempSync(join(tmpdir(), "nuthatch-release-"));
for (const one of [directory, temporary]) chmodSync(one, 0o755);
afterAll(() => {
  for (const one of [directory, temporary]) rmSync(one, { recursive: true });
});

interface Component {
  readonly name: string;
  readonly version: string;
  readonly licenses: readonly ({ readonly license: { readonly id: string } } | { readonly expression: string })[];
}
interface LockEntry {
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}
const COMPONENTS: readonly Component[] = JSON.parse(readFileSync(join(ROOT, "sbom.cdx.json"), "utf8")).components;
const NAME = `nuthatch-${manifest.version}.tgz`;

/** An account of the machine. Only root may run a command as another one: otherwise both have the same number. */
interface Account {
  readonly umask: string;
  readonly zone: string;
  readonly number: number;
  readonly home: string;
}
const own = process.getuid?.() ?? 0;
const account = (name: string, umask: string, zone: string, number: number): Account => {
  const home = join(temporary, name);
  mkdirSync(home);
  if (own === 0) chownSync(home, number, number);
  return { umask, zone, number, home };
};
const FIRST = account("one", "022", "UTC", own);
const SECOND = account("another", "077", "Asia/Tokyo", own === 0 ? 65_534 : own);

/** Runs a command in a clone as an account. */
function runAs(cwd: string, { umask, zone, number, home }: Account, ...command: string[]): string {
  const as = number === own ? [] : ["setpriv", `--reuid=${number}`, `--regid=${number}`, "--clear-groups"];
  const HOME = number === own ? process.env["HOME"] : home;
  // `npx` names the cache of its own account in variables.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
  return run("sh", ["-c", `umask ${umask}; "$@"`, "sh", ...as, ...command], {
    cwd,
    env: { ...env, HOME, TZ: zone, TMPDIR: home, SOURCE_DATE_EPOCH: "1790000000" },
  });
}

/** Makes a clone of an account, with the changes that are not committed yet. */
function cloneOf({ number }: Account): string {
  const path = join(directory, "another clone");
  run("sh", ["-c", 'umask 077; git clone --quiet --no-hardlinks "$1" "$2"', "sh", ROOT, path]);
  const changed = run("git", ["ls-files", "--modified", "--others", "--exclude-standard"], { cwd: ROOT });
  for (const file of changed.split("\n").filter((name) => name !== "")) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    copyFileSync(join(ROOT, file), join(path, file));
  }
  if (number !== own) run("chown", ["-R", `${number}:${number}`, path]);
  run("cp", ["-al", join(ROOT, "node_modules"), path]);
  return path;
}

const digestOf = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");
const first = join(FIRST.home, "release");
const second = join(SECOND.home, "release");
const key = join(temporary, "key");
const SUMS = "SHA256SUMS";

// It builds the program and its documentation twice, and packs them for two processors, which takes minutes. Images are
// left out: they have packages of Debian, which change with its updates.
test.skipIf(!isFull)("two accounts make the same files of a release from two clones", { timeout: 900_000 }, () => {
  if (hasMinisign) run("minisign", ["-G", "-W", "-s", key, "-p", `${key}.pub`]);
  const signed = hasMinisign ? ["--key", key] : [];
  const make = ["npm", "run", "--silent", "release", "--", "--only", "npm,chart,debian", "--out"];
  runAs(ROOT, FIRST, ...make, first, ...signed);
  runAs(cloneOf(SECOND), SECOND, ...make, second);
  const sumsIn = (out: string): readonly string[] => readFileSync(join(out, SUMS), "utf8").trim().split("\n");
  // npm, chart, and program and Debian package for two processors, each with its list of parts; three documents.
  expect(sumsIn(first)).toHaveLength(2 * (2 + 2 * 2) + 3);
  expect(sumsIn(second)).toEqual(sumsIn(first));
  const listing = run("tar", ["-tvzf", join(second, NAME)])
    .trim()
    .split("\n");
  expect(listing.filter((line) => !/^(?:-rw-r--r--|-rwxr-xr-x|drwxr-xr-x) 0\/0 /.test(line))).toEqual([]);

  // What the first run has written beside the artefacts.
  expect(run("sha256sum", ["--check", SUMS], { cwd: first })).toContain(`${NAME}: OK`);
  const { subject } = JSON.parse(readFileSync(join(first, "provenance.intoto.json"), "utf8"));
  expect(subject).toContainEqual({ name: NAME, digest: { sha256: digestOf(join(first, NAME)) } });
  const inPackage = run("tar", ["-xzOf", join(first, NAME), "package/sbom.cdx.json"]);
  expect(inPackage).toBe(readFileSync(join(first, `${NAME}.cdx.json`), "utf8"));
  expect(inPackage).toBe(readFileSync(join(ROOT, "sbom.cdx.json"), "utf8"));
  if (!hasMinisign) return;
  const verify = ["-V", "-q", "-p", `${key}.pub`, "-m", join(first, SUMS)];
  run("minisign", verify);
  writeFileSync(join(first, SUMS), "changed");
  expect(() => run("minisign", verify)).toThrow();
});

test("the list of parts has each package whose code is in the program", () => {
  const code = join(ROOT, "dist/code");
  const names = readdirSync(code)
    .filter((file) => file.endsWith(".map"))
    .flatMap((file) => {
      const { sources }: { readonly sources: readonly string[] } = JSON.parse(readFileSync(join(code, file), "utf8"));
      return sources.flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []);
    });
  const listed = new Set(COMPONENTS.map(({ name }) => name));
  expect(new Set(names).size).toBeGreaterThan(30);
  expect([...new Set(names)].filter((name) => !listed.has(name))).toEqual([]);
  // Data and machine code.
  for (const name of ["world-atlas", "mproj", "sharp", "@img/sharp-libvips-linux-x64", "ol", "minisearch"])
    expect(listed).toContain(name);
});

test("all licences permit distribution with the program, and no package runs a script at its installation", () => {
  const licences = COMPONENTS.flatMap(({ licenses }) =>
    licenses.flatMap((one) => ("license" in one ? [one.license.id] : one.expression.split(/ AND /))),
  );
  const permitted = [
    "0BSD",
    "Apache-2.0",
    "BlueOak-1.0.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "LGPL-3.0-or-later",
    "MIT",
  ];
  expect([...new Set(licences)].filter((licence) => !permitted.includes(licence))).toEqual([]);
  const { packages }: { readonly packages: Readonly<Record<string, LockEntry>> } = JSON.parse(
    readFileSync(join(ROOT, "package-lock.json"), "utf8"),
  );
  const scripts = Object.entries(packages)
    .filter(([, { dev, hasInstallScript }]) => dev !== true && hasInstallScript === true)
    .map(([name]) => name);
  expect(scripts).toEqual([]);
});
