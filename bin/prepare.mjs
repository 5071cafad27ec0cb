// Does what is missing: installs when the lock file changed, builds when a source is newer than the build.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const at = (...parts) => join(root, ...parts);
const stamp = (file) => (existsSync(file) ? readFileSync(file, "utf8") : "");

function run(command, args) {
  // Output goes to stderr: stdout belongs to the server.
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (status !== 0) {
    console.error(`nuthatch: \`${command} ${args.join(" ")}\` failed`);
    process.exit(1);
  }
}

function sources(directory, into = []) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) sources(path, into);
    else into.push(`${path}:${statSync(path).mtimeMs}:${statSync(path).size}`);
  }
  return into;
}

const lock = createHash("sha256")
  .update(readFileSync(at("package-lock.json")))
  .digest("hex");
const installed = at("node_modules", ".nuthatch-installed");
if (stamp(installed) !== lock) {
  console.error("nuthatch: installing packages …");
  run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  writeFileSync(installed, lock);
}

const built = createHash("sha256")
  .update(
    [...["src", "ui", "bin"].flatMap((folder) => sources(at(folder)).sort()), lock, stamp(at("package.json"))].join(
      "\n",
    ),
  )
  .digest("hex");
const builtStamp = at("dist", ".built");
if (stamp(builtStamp) !== built) {
  console.error("nuthatch: building …");
  run(process.execPath, [at("bin", "build.mjs")]);
  writeFileSync(builtStamp, built);
}
