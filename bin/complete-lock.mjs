// Adds the optional packages of other platforms that the lock file lacks, so that `npm ci` accepts it on every
// platform. npm leaves them out when its registry does not answer for them. Run it after `npm install` has changed the
// lock.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = fileURLToPath(new URL("../package-lock.json", import.meta.url));
const lock = JSON.parse(readFileSync(path, "utf8"));
const SYSTEMS = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const PROCESSORS = ["arm64", "arm", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64"];

/** Finds the folder from which `name` is resolved by the package at `from`: npm looks upwards. */
function resolved(from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    const candidate = `${at === "" ? "" : `${at}/`}node_modules/${name}`;
    if (lock.packages[candidate] !== undefined) return candidate;
    if (at === "" || !at.includes("/node_modules/")) {
      const top = `node_modules/${name}`;
      return lock.packages[top] === undefined ? undefined : top;
    }
  }
}

let added = 0;
for (const [from, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (resolved(from, name) !== undefined) continue;
    const words = name.split(/[/-]/);
    const os = SYSTEMS.find((system) => words.includes(system));
    const cpu = PROCESSORS.find((processor) => words.includes(processor));
    // Without a platform npm would try to install the package everywhere.
    if (os === undefined || cpu === undefined || !/^\d+\.\d+\.\d+$/.test(version)) continue;
    lock.packages[`node_modules/${name}`] = {
      version,
      cpu: [cpu],
      ...(dev === true ? { dev: true } : {}),
      optional: true,
      os: [os],
    };
    added++;
  }
}
if (added > 0) {
  const [[root, own], ...others] = Object.entries(lock.packages);
  const sorted = others.sort(([a], [b]) => (a < b ? -1 : 1));
  lock.packages = Object.fromEntries([[root, own], ...sorted]);
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
}
console.error(`package-lock.json: ${added} optional packages of other platforms added`);
