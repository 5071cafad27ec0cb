// npm run release -- [--only npm,debian,program,chart,image,bundle] [--out DIRECTORY] [--key FILE]
// Makes the artefacts of a release. The same commit gives the same bytes, whatever the directory, account, umask, time
// zone and day. It needs git, tar, gzip and npm; dpkg-deb for debian, image and bundle, apt-get for image and bundle,
// minisign for --key.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { componentsOf, installedFolders, sbomOf } from "../../bin/sbom.mjs";
import { installProgram, PROCESSORS } from "../install-program.mjs";
import { debianComponents, makeImage } from "./image.mjs";
import { notesOf } from "./notes.mjs";
import { provenanceOf } from "./provenance.mjs";
import { gzip, plainModes, tar } from "./tar.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));
const read = (name) => readFileSync(join(root, name), "utf8");
const manifest = JSON.parse(read("package.json"));
const lock = JSON.parse(read("package-lock.json"));
const { version } = manifest;
const run = (command, args, options = {}) =>
  execFileSync(command, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], ...options });

/** Each kind with the kinds that it contains. A kind is made once. */
const KINDS = {
  npm: [],
  debian: ["npm", "program"],
  program: ["npm"],
  chart: [],
  image: ["npm", "program"],
  bundle: ["npm", "debian", "program", "chart", "image"],
};
const USAGE = `npm run release -- [--only ${Object.keys(KINDS).join(" | ")}] [--out DIRECTORY] [--key FILE]

--only KIND  makes one kind of artefact, or several with commas. Default: all
--out DIR    the directory of the artefacts. Default: release
--key FILE   a key of minisign without a password, which signs SHA256SUMS. Default: nothing is signed`;

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "bundle" },
    out: { type: "string", default: "release" },
    key: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}
const wanted = values.only.split(",");
const unknown = wanted.find((kind) => KINDS[kind] === undefined);
if (unknown !== undefined) {
  process.stderr.write(`--only: expected one of ${Object.keys(KINDS).join(", ")}, got ${unknown}\n`);
  process.exit(2);
}

// `bin/prepare.mjs` starts a server without its documentation, but nobody releases it so.
if (!existsSync(join(root, "dist/docs/index.html"))) throw new Error("the documentation is not built: npm run docs");

const out = resolve(root, values.out);
const commit = run("git", ["rev-parse", "HEAD"]).trim();
const time = Number(process.env["SOURCE_DATE_EPOCH"] ?? run("git", ["log", "-1", "--format=%ct"]).trim());
process.env["SOURCE_DATE_EPOCH"] = String(time);
const changed = run("git", ["status", "--porcelain", "--untracked-files=no"]).trim() !== "";
if (changed) process.stderr.write("WARNING: the clone has changes that are not committed; the artefacts have them\n");
// Beside the artefacts, so that they can be moved there.
mkdirSync(dirname(out), { recursive: true });
const work = mkdtempSync(join(dirname(out), ".release-"));
const say = (file) => process.stdout.write(`${file}\n`);

/** The components of the program's own bundles and of what npm installs, by package URL. */
const all = JSON.parse(read("sbom.cdx.json")).components;

/** Returns the components of an installed program: no packages of other platforms. */
function installedComponents(program) {
  const inner = JSON.parse(readFileSync(join(program, "node_modules/.package-lock.json"), "utf8"));
  const folders = Object.keys(inner.packages).filter((folder) => existsSync(join(program, folder)));
  const here = new Set(componentsOf(lock, folders).map(({ purl }) => purl));
  const outside = new Set(componentsOf(lock, installedFolders(lock)).map(({ purl }) => purl));
  return all.filter(({ purl }) => here.has(purl) || !outside.has(purl));
}

const made = [];
/** Records an artefact with its list of parts. */
function add(file, components) {
  made.push({ name: file, components });
  writeFileSync(join(out, `${file}.cdx.json`), sbomOf(manifest, components));
  say(join(values.out, file));
}

/** Copies what belongs to the npm package, with plain modes, and returns the path of the package. */
function makeNpm() {
  const stage = join(work, "npm");
  const [{ files }] = JSON.parse(run("npm", ["pack", "--dry-run", "--json", "--silent", "--ignore-scripts"]));
  for (const { path } of files) {
    const target = join(stage, "package", path);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, path), target);
    chmodSync(target, path === "bin/nuthatch.mjs" ? 0o755 : 0o644);
  }
  plainModes(stage);
  const name = `nuthatch-${version}.tgz`;
  const archive = join(work, "npm.tar");
  tar(archive, stage, ["package"], { time });
  renameSync(gzip(archive), join(out, name));
  add(name, all);
}

const npmPackage = () => join(out, `nuthatch-${version}.tgz`);
const programs = new Map();
/** Returns the directory of the program with its packages for a processor. */
function programFor(arch) {
  const directory = programs.get(arch) ?? join(work, "programs", arch, "nuthatch");
  if (!programs.has(arch)) {
    installProgram(npmPackage(), PROCESSORS[arch], directory);
    plainModes(directory);
    programs.set(arch, directory);
  }
  return directory;
}

function makeProgram() {
  for (const arch of Object.keys(PROCESSORS)) {
    const name = `nuthatch-${version}-linux-${arch}.tar.gz`;
    const archive = join(work, "program.tar");
    tar(archive, join(programFor(arch), ".."), ["nuthatch"], { time });
    renameSync(gzip(archive), join(out, name));
    add(name, installedComponents(programFor(arch)));
  }
}

function makeDebian() {
  for (const arch of Object.keys(PROCESSORS)) {
    run(process.execPath, ["packaging/debian/build.mjs", "--arch", arch, "--out", out, "--program", programFor(arch)]);
    add(`nuthatch_${version}_${arch}.deb`, installedComponents(programFor(arch)));
  }
}

function makeChart() {
  const [, chart] = /^version: (\S+)$/m.exec(read("packaging/helm/nuthatch/Chart.yaml")) ?? [];
  if (chart !== version) throw new Error(`Chart.yaml has version ${chart}, package.json has ${version}`);
  const stage = join(work, "chart");
  for (const path of run("git", ["ls-files", "packaging/helm/nuthatch"]).trim().split("\n")) {
    const target = join(stage, path.replace("packaging/helm/", ""));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, path), target);
  }
  plainModes(stage);
  const name = `nuthatch-chart-${version}.tgz`;
  const archive = join(work, "chart.tar");
  tar(archive, stage, ["nuthatch"], { time });
  renameSync(gzip(archive), join(out, name));
  add(name, []);
}

function makeImages() {
  for (const arch of Object.keys(PROCESSORS)) {
    const name = `nuthatch-image-${version}-${arch}.tar`;
    const program = programFor(arch);
    const packages = makeImage(join(out, name), program, { arch, version, time, work });
    add(name, [...installedComponents(program), ...debianComponents(packages, arch)]);
  }
}

/** Makes one file with all artefacts, the documentation, and a script that installs from it. */
function makeBundle() {
  const name = `nuthatch-${version}-offline`;
  const stage = join(work, "bundle", name);
  mkdirSync(stage, { recursive: true });
  const parts = [...made];
  for (const { name: part } of parts)
    for (const file of [part, `${part}.cdx.json`]) copyFileSync(join(out, file), join(stage, file));
  for (const file of ["LICENSE", "README.md", "SECURITY.md", "UPGRADING.md"])
    copyFileSync(join(root, file), join(stage, file));
  copyFileSync(join(here, "install.sh"), join(stage, "install.sh"));
  tar(join(work, "docs.tar"), join(root, "dist"), ["docs"], { time });
  renameSync(gzip(join(work, "docs.tar")), join(stage, `nuthatch-docs-${version}.tar.gz`));
  writeFileSync(join(stage, "SHA256SUMS"), sumsOf(stage));
  plainModes(stage);
  chmodSync(join(stage, "install.sh"), 0o755);
  tar(join(out, `${name}.tar`), join(stage, ".."), [name], { time });
  const union = new Map(parts.flatMap(({ components }) => components).map((one) => [one["bom-ref"], one]));
  add(
    `${name}.tar`,
    [...union.values()].sort((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1)),
  );
}

const digestOf = (file) => createHash("sha256").update(readFileSync(file)).digest("hex");

/** Returns the checksums of all files of a directory, in the form of sha256sum. */
const sumsOf = (directory) =>
  readdirSync(directory)
    .filter((name) => !name.startsWith("SHA256SUMS"))
    .sort()
    .map((name) => `${digestOf(join(directory, name))}  ${name}\n`)
    .join("");

const MAKERS = {
  npm: makeNpm,
  program: makeProgram,
  debian: makeDebian,
  chart: makeChart,
  image: makeImages,
  bundle: makeBundle,
};

try {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const kinds = new Set(wanted.flatMap((kind) => [...KINDS[kind], kind]));
  for (const kind of Object.keys(MAKERS)) if (kinds.has(kind)) await MAKERS[kind]();
  const subjects = made.map(({ name }) => ({ name, digest: { sha256: digestOf(join(out, name)) } }));
  writeFileSync(
    join(out, "provenance.intoto.json"),
    provenanceOf(subjects, {
      version,
      commit,
      changed,
      time,
      kinds: wanted,
      lock: digestOf(join(root, "package-lock.json")),
    }),
  );
  copyFileSync(join(here, "vex.cdx.json"), join(out, `nuthatch-${version}.vex.cdx.json`));
  writeFileSync(join(out, "RELEASE-NOTES.md"), notesOf(read("CHANGELOG.md"), version));
  writeFileSync(join(out, "SHA256SUMS"), sumsOf(out));
  if (values.key === undefined) process.stderr.write("SHA256SUMS is not signed: no --key\n");
  else
    run(
      "minisign",
      ["-S", "-W", "-s", resolve(values.key), "-m", join(out, "SHA256SUMS"), "-t", `nuthatch ${version}`],
      {
        stdio: "inherit",
      },
    );
} finally {
  rmSync(work, { recursive: true, force: true });
}
