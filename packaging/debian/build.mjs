// Builds the Debian package: node packaging/debian/build.mjs [--arch amd64|arm64] [--out DIRECTORY] [--version VERSION]
// [--program DIRECTORY]. It needs dpkg-deb, and npm without --program. The package has the program as it is installed in
// DIRECTORY; without it, what `npm pack` makes, with the npm packages that it needs, as the lock has them. With
// SOURCE_DATE_EPOCH no file is younger than that.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { installProgram, PROCESSORS } from "../install-program.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { values } = parseArgs({
  options: {
    arch: { type: "string", default: "amd64" },
    out: { type: "string", default: "." },
    version: { type: "string", default: manifest.version },
    program: { type: "string" },
  },
});
const { arch, version } = values;
const processor = PROCESSORS[arch];
if (processor === undefined)
  throw new Error(`--arch: expected one of ${Object.keys(PROCESSORS).join(", ")}, got ${arch}`);

const run = (command, args, options = {}) =>
  execFileSync(command, args, { stdio: ["ignore", "pipe", "inherit"], encoding: "utf8", ...options });

/** Returns the path of the package that `npm pack` makes in a directory. */
function packed(directory) {
  const [{ filename }] = JSON.parse(
    run("npm", ["pack", "--json", "--silent", "--pack-destination", directory], { cwd: root }),
  );
  return join(directory, filename);
}

/** Fills usr/lib/nuthatch. */
function addProgram(stage) {
  const directory = join(stage, "usr/lib/nuthatch");
  if (values.program !== undefined) {
    cpSync(values.program, directory, { recursive: true, verbatimSymlinks: true });
    return;
  }
  const work = mkdtempSync(join(tmpdir(), "nuthatch-pack-"));
  try {
    installProgram(packed(work), processor, directory);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function write(stage, path, content, mode = 0o644) {
  const file = join(stage, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, mode);
}

const read = (path) => readFileSync(join(root, path), "utf8");

function addSystemFiles(stage) {
  write(stage, "usr/lib/systemd/system/nuthatch.service", read("packaging/systemd/nuthatch.service"));
  write(stage, "etc/nuthatch/nuthatch.yaml", read("packaging/debian/nuthatch.yaml"));
  write(stage, "etc/nuthatch/conf.d/demo.yaml", read("packaging/debian/demo.yaml"));
  write(stage, "etc/default/nuthatch", read("packaging/debian/default"));
  mkdirSync(join(stage, "usr/bin"), { recursive: true });
  symlinkSync("../lib/nuthatch/bin/nuthatch.mjs", join(stage, "usr/bin/nuthatch"));
  chmodSync(join(stage, "usr/lib/nuthatch/bin/nuthatch.mjs"), 0o755);
}

function addDocs(stage) {
  const folder = join(stage, "usr/share/doc/nuthatch");
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, "docs"), join(folder, "docs"), { recursive: true });
  copyFileSync(join(root, "README.md"), join(folder, "README.md"));
  writeFileSync(join(folder, "changelog.gz"), gzipSync(read("CHANGELOG.md"), { level: 9 }));
  const licences = read("dist/THIRD-PARTY-LICENSES.txt");
  const title = "Nuthatch is licensed under the Apache License, Version 2.0 (/usr/share/common-licenses/Apache-2.0).";
  const others =
    "The packages in /usr/lib/nuthatch/node_modules have their licences beside them. The program contains:";
  writeFileSync(join(folder, "copyright"), `${title}\n\n${others}\n\n${licences}`);
}

function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function addControl(stage) {
  const files = filesOf(stage);
  const kibibytes = Math.ceil(files.reduce((sum, file) => sum + readFileSync(file).length, 0) / 1024);
  const control = [
    "Package: nuthatch",
    `Version: ${version}`,
    `Architecture: ${arch}`,
    "Section: web",
    "Priority: optional",
    "Maintainer: Nuthatch maintainers <maintainers@nuthatch.invalid>",
    "Depends: nodejs (>= 20.19), adduser, systemd, init-system-helpers (>= 1.50)",
    `Installed-Size: ${kibibytes}`,
    `Description: ${manifest.description.replace(/^A /, "")}`,
    " Stores tiles of map servers, serves them, and is managed over HTTP as GeoWebCache is:",
    " seeds, truncations, disk quotas. It speaks WMTS, WMS, TMS, XYZ and OGC API - Tiles.",
    "",
  ];
  write(stage, "DEBIAN/control", control.join("\n"));
  const configuration = files.map((file) => `/${relative(stage, file)}`).filter((file) => file.startsWith("/etc/"));
  write(stage, "DEBIAN/conffiles", `${configuration.join("\n")}\n`);
  const sums = files
    .filter((file) => !relative(stage, file).startsWith("etc/"))
    .map((file) => `${createHash("md5").update(readFileSync(file)).digest("hex")}  ${relative(stage, file)}\n`);
  write(stage, "DEBIAN/md5sums", sums.join(""));
  for (const script of ["postinst", "prerm", "postrm"])
    write(stage, `DEBIAN/${script}`, readFileSync(join(here, script)), 0o755);
}

const stage = mkdtempSync(join(tmpdir(), "nuthatch-deb-"));
try {
  chmodSync(stage, 0o755);
  addProgram(stage);
  addSystemFiles(stage);
  addDocs(stage);
  addControl(stage);
  run("chmod", ["-R", "u+rwX,go+rX,go-w", stage]);
  mkdirSync(resolve(values.out), { recursive: true });
  const file = join(resolve(values.out), `nuthatch_${version}_${arch}.deb`);
  // One thread, because the bytes differ with their number.
  run("dpkg-deb", ["--root-owner-group", "-Zxz", "--threads-max=1", "--build", stage, file]);
  process.stdout.write(`${file}\n`);
} finally {
  rmSync(stage, { recursive: true, force: true });
}
