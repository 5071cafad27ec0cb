// Makes the list of parts of an artefact: CycloneDX 1.6 (ECMA-424) in JSON. The same parts give the same bytes.
import { createHash } from "node:crypto";

/** Returns the name of the package in a folder of `node_modules`. */
const nameOf = (folder) => folder.replace(/^.*node_modules\//, "");

/** Returns the package URL of an npm package (purl-spec, types/npm). */
export const npmUrl = (name, version) => `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;

/** Returns the field `licenses` of a component. */
const licensesOf = (text) =>
  / (?:AND|OR|WITH) /.test(text) ? [{ expression: text.replace(/^\((.*)\)$/, "$1") }] : [{ license: { id: text } }];

/**
 * Returns the component of an npm package.
 * @param lock the content of package-lock.json
 * @param folder the folder of the package, a key of the lock
 */
function componentOf(lock, folder) {
  const { name = nameOf(folder), version, license, integrity } = lock.packages[folder] ?? {};
  if (version === undefined || license === undefined) throw new Error(`package-lock.json: no licence of ${folder}`);
  const purl = npmUrl(name, version);
  const hashes =
    integrity === undefined
      ? {}
      : {
          hashes: [
            { alg: "SHA-512", content: Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex") },
          ],
        };
  return { type: "library", "bom-ref": purl, name, version, purl, licenses: licensesOf(license), ...hashes };
}

/** Returns the folders of the packages that an installed program loads, on any platform. */
export const installedFolders = (lock) =>
  Object.entries(lock.packages).flatMap(([folder, entry]) =>
    folder === "" || entry.dev || entry.devOptional ? [] : [folder],
  );

/** Returns the key that the lock has for a folder. `node_modules` may be a link to another directory. */
const keyOf = (folder) => folder.replace(/^.*?(?=node_modules\/)/, "");

/** Returns the components of packages, by folder, each once. */
export const componentsOf = (lock, folders) => {
  const components = new Map(folders.map((folder) => componentOf(lock, keyOf(folder))).map((one) => [one.purl, one]));
  return [...components.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1));
};

/** Returns the list of parts of an artefact as JSON. `manifest` is the content of package.json. */
export function sbomOf(manifest, components) {
  const { name, version, license, description } = manifest;
  const purl = npmUrl(name, version);
  const program = {
    type: "application",
    "bom-ref": purl,
    name,
    version,
    description,
    purl,
    licenses: licensesOf(license),
  };
  const dependencies = [
    { ref: purl, dependsOn: components.map((component) => component["bom-ref"]) },
    ...components.map((component) => ({ ref: component["bom-ref"] })),
  ];
  const digest = createHash("sha256")
    .update(JSON.stringify([program, components]))
    .digest("hex");
  const uuid = [digest.slice(0, 8), digest.slice(8, 12), `5${digest.slice(13, 16)}`, `8${digest.slice(17, 20)}`];
  const serialNumber = `urn:uuid:${[...uuid, digest.slice(20, 32)].join("-")}`;
  const bom = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber,
    version: 1,
    metadata: { component: program },
    components,
    dependencies,
  };
  return `${JSON.stringify(bom, null, 1)}\n`;
}
