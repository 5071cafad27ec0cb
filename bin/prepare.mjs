// Installs packages if the lock file has changed, and builds if a source is newer than the build. With --no-docs it
// does not build the documentation, because most tests do not read it.
import { spawn, spawnSync } from "node:child_process";
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

/** Adds each file at or below `path`, with its time and size. */
function sources(path, into = []) {
  const { mtimeMs, size } = statSync(path);
  if (statSync(path).isDirectory()) for (const name of readdirSync(path)) sources(join(path, name), into);
  else into.push(`${path}:${mtimeMs}:${size}`);
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

/** Returns a digest of everything that a build reads: names, times and sizes of files, and the packages. */
function digestOf(paths) {
  const files = paths.flatMap((path) => sources(at(path)).sort());
  return createHash("sha256")
    .update([...files, lock, stamp(at("package.json"))].join("\n"))
    .digest("hex");
}

/** Runs `script`, unless it ran for the same files before. Resolves with whether its output exists. */
function build(script, paths, stampName, message) {
  const digest = digestOf(paths);
  const stampFile = at("dist", stampName);
  if (stamp(stampFile) === digest) return Promise.resolve(true);
  console.error(message);
  return new Promise((resolve) => {
    const builder = spawn(process.execPath, [at("bin", script)], { cwd: root, stdio: ["ignore", 2, 2] });
    builder.once("close", (status) => {
      if (status === 0) writeFileSync(stampFile, digest);
      resolve(status === 0);
    });
  });
}

// At the same time: together they take as long as the program alone.
const [hasProgram, hasDocs] = await Promise.all([
  build("build.mjs", ["src", "ui", "bin"], ".built", "nuthatch: building …"),
  process.argv.includes("--no-docs") ||
    build(
      "build-docs.mjs",
      ["docs", "site", "examples", ...readdirSync(root).filter((name) => name.endsWith(".md"))],
      ".docs-built",
      "nuthatch: building the documentation …",
    ),
]);
if (!hasProgram) {
  console.error("nuthatch: `node bin/build.mjs` failed");
  process.exit(1);
}
// The server starts without the documentation; /docs then names the command that builds it.
if (!hasDocs) console.error("nuthatch: `npm run docs` failed; the program starts without its documentation");
