// Makes the image of a release as an OCI archive (OCI Image Format 1.1), without a registry of images and without an
// emulator: Debian's packages, Node from npm's registry, and the program. The configuration is the Containerfile's.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PROCESSORS } from "../install-program.mjs";
import { gzip, plainModes, tar } from "./tar.mjs";

/** The packages of Debian that Node needs: its C and C++ libraries, and the names of the system. */
const DEBIAN = ["base-files", "gcc-12-base", "libc6", "libgcc-s1", "libstdc++6", "tzdata"];
const NODE = "24.22.1";
const OWNER = 10_001;
const root = fileURLToPath(new URL("../..", import.meta.url));

const run = (command, args, options = {}) =>
  execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], ...options });

/** Downloads Debian's packages for a processor, and returns `name version` of each. */
function addDebian(directory, arch, work) {
  const apt = join(work, "apt");
  for (const name of ["lists/partial", "cache/archives/partial", "deb"])
    mkdirSync(join(apt, name), { recursive: true });
  const options = [
    `APT::Architecture=${arch}`,
    `APT::Architectures=${arch}`,
    `Dir::State::Lists=${join(apt, "lists")}`,
    `Dir::Cache=${join(apt, "cache")}`,
    "Dir::State::Status=/dev/null",
    "APT::Sandbox::User=root",
    "Acquire::Languages=none",
  ].flatMap((option) => ["-o", option]);
  run("apt-get", [...options, "update", "-qq"]);
  run("apt-get", [...options, "download", "-qq", ...DEBIAN], { cwd: join(apt, "deb") });
  return run("sh", ["-c", "ls *.deb"], { cwd: join(apt, "deb") })
    .trim()
    .split("\n")
    .map((file) => {
      run("dpkg-deb", ["--extract", join(apt, "deb", file), directory]);
      return run("dpkg-deb", ["--show", "--showformat", `\${Package} \${Version}`, join(apt, "deb", file)]);
    });
}

/** Adds Node's program from npm's registry. */
function addNode(directory, processor, work) {
  const [{ filename }] = JSON.parse(
    run("npm", ["pack", "--json", "--silent", "--pack-destination", work, `node-linux-${processor}@${NODE}`]),
  );
  run("tar", ["-xzf", join(work, filename), "-C", work, "package/bin/node"]);
  mkdirSync(join(directory, "usr/local/bin"), { recursive: true });
  renameSync(join(work, "package/bin/node"), join(directory, "usr/local/bin/node"));
}

const ACCOUNTS = {
  "etc/passwd": `root:x:0:0:root:/root:/usr/sbin/nologin\nnuthatch:x:${OWNER}:${OWNER}::/data:/usr/sbin/nologin\n`,
  "etc/group": `root:x:0:\nnuthatch:x:${OWNER}:\n`,
};

/** Returns the instructions of the last stage of the Containerfile. */
function instructions() {
  const text = readFileSync(join(root, "packaging/container/Containerfile"), "utf8").replaceAll(/\\\n\s*/g, "");
  return text
    .slice(text.lastIndexOf("\nFROM"))
    .split("\n")
    .flatMap((line) => {
      const [, name, rest] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [{ name, rest }];
    });
}

/** Returns the configuration of a container (OCI Image Format 1.1, config.md). */
function configuration(version) {
  const lines = instructions();
  const all = (wanted) => lines.flatMap(({ name, rest }) => (name === wanted ? [rest] : []));
  const pairs = (wanted) =>
    all(wanted).flatMap((rest) =>
      [...rest.matchAll(/([\w.]+)=("[^"]*"|\S+)/g)].map(([, key, value]) => [key, value.replaceAll('"', "")]),
    );
  const keys = (values) => Object.fromEntries(values.map((value) => [value, {}]));
  return {
    User: all("USER").at(-1),
    WorkingDir: all("WORKDIR").at(-1),
    Env: ["PATH=/usr/local/bin:/usr/bin:/bin", ...pairs("ENV").map(([key, value]) => `${key}=${value}`)],
    Entrypoint: JSON.parse(all("ENTRYPOINT")[0]),
    Cmd: JSON.parse(all("CMD")[0]),
    ExposedPorts: keys(all("EXPOSE").map((port) => `${port}/tcp`)),
    Volumes: keys(all("VOLUME")),
    Labels: { ...Object.fromEntries(pairs("LABEL")), "org.opencontainers.image.version": version },
  };
}

const digestOf = (content) => `sha256:${createHash("sha256").update(content).digest("hex")}`;

/**
 * Writes the image for a processor.
 * @param program a directory with the installed program
 * @returns the packages of Debian, and Node, as `name version`
 */
export function makeImage(file, program, { arch, version, time, work }) {
  const system = join(work, `system-${arch}`);
  const application = join(work, `application-${arch}`);
  const layout = join(work, `layout-${arch}`);
  for (const directory of [system, application, join(layout, "blobs/sha256")])
    mkdirSync(directory, { recursive: true });
  const packages = addDebian(system, arch, work);
  addNode(system, PROCESSORS[arch], work);
  for (const [name, text] of Object.entries(ACCOUNTS)) writeFileSync(join(system, name), text);
  for (const name of ["usr/share/doc", "usr/share/lintian", "usr/share/locale"])
    rmSync(join(system, name), { recursive: true, force: true });
  cpSync(program, join(application, "opt/nuthatch"), { recursive: true, verbatimSymlinks: true });
  mkdirSync(join(application, "data"), { recursive: true });
  mkdirSync(join(system, "usr/bin"), { recursive: true });
  symlinkSync("/opt/nuthatch/bin/nuthatch.mjs", join(system, "usr/local/bin/nuthatch"));
  for (const directory of [system, application]) plainModes(directory);
  for (const name of ["tmp", "var/tmp"]) chmodSync(join(system, name), 0o1777);

  const blob = (content) => {
    const digest = digestOf(content);
    writeFileSync(join(layout, "blobs/sha256", digest.slice("sha256:".length)), content);
    return { digest, size: content.length };
  };
  const layers = [];
  const diffIds = [];
  for (const [directory, parts] of [
    [system, [{ names: ["."] }]],
    [application, [{ names: ["./opt"] }, { names: ["./data"], owner: OWNER }]],
  ]) {
    const archive = join(work, "layer.tar");
    rmSync(archive, { force: true });
    for (const [i, { names, owner = 0 }] of parts.entries())
      tar(archive, directory, names, { time, owner, append: i > 0 });
    diffIds.push(digestOf(readFileSync(archive)));
    layers.push({ mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", ...blob(readFileSync(gzip(archive))) });
    rmSync(`${archive}.gz`);
  }
  const created = new Date(time * 1000).toISOString();
  const json = (value) => Buffer.from(JSON.stringify(value));
  const config = {
    created,
    architecture: arch,
    os: "linux",
    config: configuration(version),
    rootfs: { type: "layers", diff_ids: diffIds },
    history: [
      { created, created_by: `Debian: ${packages.join(", ")}; Node ${NODE}` },
      { created, created_by: `Nuthatch ${version}` },
    ],
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: { mediaType: "application/vnd.oci.image.config.v1+json", ...blob(json(config)) },
    layers,
  };
  const described = {
    mediaType: manifest.mediaType,
    ...blob(json(manifest)),
    platform: { architecture: arch, os: "linux" },
    annotations: { "org.opencontainers.image.ref.name": version },
  };
  const index = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [described],
  };
  writeFileSync(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  writeFileSync(join(layout, "index.json"), JSON.stringify(index));
  plainModes(layout);
  tar(file, layout, ["blobs", "index.json", "oci-layout"], { time });
  for (const directory of [system, application, layout, join(work, "apt")])
    rmSync(directory, { recursive: true, force: true });
  return [...packages, `node ${NODE}`];
}

/** Returns the components of an image that are no npm packages of the program. */
export const debianComponents = (packages, arch) =>
  packages.map((one) => {
    const [name, version] = one.split(" ");
    const purl =
      name === "node"
        ? `pkg:npm/node-linux-${PROCESSORS[arch]}@${version}`
        : `pkg:deb/debian/${name}@${version}?arch=${arch}`;
    return { type: "library", "bom-ref": purl, name, version, purl };
  });
