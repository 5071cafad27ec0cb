// Collects the licences of the packages whose code or data is in the built program.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice|ofl)(?:[.-].*)?$/i;

/** Returns the folders of the packages of which a build has taken files, relative to the root. */
export function packagesOf(metafile) {
  const folders = Object.keys(metafile.inputs).flatMap((file) => {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [];
    return folder === undefined ? [] : [folder];
  });
  return [...new Set(folders)];
}

/**
 * Returns one text with name, version and licence of each package.
 * @param root the folder of this package
 * @param folders relative to `root`
 */
export function licencesOf(root, folders) {
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const files = readdirSync(join(root, folder))
      .filter((file) => LICENCE_FILE.test(file))
      .sort();
    const licences = files.map((file) => readFileSync(join(root, folder, file), "utf8").trim());
    const title = `${name} ${version} (${typeof license === "string" ? license : (license?.type ?? "see below")})`;
    return [title, "=".repeat(title.length), ...licences].join("\n\n");
  });
  return `${texts.join("\n\n\n")}\n`;
}

/** Returns the folder of an installed package, relative to the root. */
export function folderOf(root, name) {
  const folder = `node_modules/${name}`;
  if (!existsSync(join(root, folder))) throw new Error(`the package ${name} is not installed`);
  return folder;
}
