import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runProgram } from "../../test/support/server/run-program.ts";
import { loadConfiguration } from "./load.ts";
import { problemText } from "./problem.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-mistakes-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const SOURCE = 'source: { type: wms, url: "http://u/wms" }';
/** A layer with SOURCE in line 3 and `line` in line 4. */
const layer = (line: string, source = SOURCE): string => `layers:\n  - name: a\n    ${source}\n    ${line}\n`;
const grid = (subset: string): string => layer(`gridSubsets: [{ ${subset} }]`);
const user = (rest: string): string => `users:\n  - { name: ann, ${rest} }\nlayers: []\n`;

interface Mistake {
  readonly mistake: string;
  readonly yaml?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, string>>;
  /** Patterns of the problems, or of the warnings of a valid configuration, each with its file and line. */
  readonly says: readonly RegExp[];
  readonly isValid?: true;
}

/**
 * Common mistakes, each with a message that names its position and the remedy. Mistakes that only the upstream can
 * detect, such as a misspelt layer or wrong credentials, are in `test/clients/doctor.test.ts`.
 */
const MISTAKES: readonly Mistake[] = [
  {
    mistake: "a grid set with a name in place of its id",
    yaml: "gridSets:\n  - { name: a, srs: 3857 }\nlayers: []\n",
    says: [/gridSets\[0\]\.name: unknown key; did you mean id\?/],
  },
  {
    mistake: "INSPIRE without metadata, and with texts in its first language",
    yaml: "inspire:\n  languages: [ger]\n  texts: { ger: { title: a } }\nlayers: []\n",
    says: [/inspire: expected metadataUrl or temporalReference, or both$/, /inspire\.texts\.ger: expected a language/],
  },
  {
    mistake: "INSPIRE with a two-letter language and a date that does not exist",
    yaml: "inspire:\n  languages: [de]\n  temporalReference: 2026-02-30\nlayers: []\n",
    says: [/inspire\.languages\[0\]: expected one of bul, .*got "de"/, /inspire\.temporalReference: expected a date/],
  },
  {
    mistake: "INSPIRE's metadata without the contact that they name",
    yaml: "inspire:\n  languages: [ger]\n  temporalReference: 2026-02-28\nlayers: []\n",
    says: [/inspire\.temporalReference: expected serviceInformation\.serviceProvider beside it, with providerName/],
  },
  {
    mistake: "a layer with the store of a configuration without stores",
    yaml: layer("store: main"),
    says: [/^f\.yaml:4:12: layers\[0\]\.store: unknown store "main": the configuration has no section stores$/],
  },
  {
    mistake: "a layer with a store that is misspelt",
    yaml: `${layer("store: packd")}stores:\n  - { id: packed, type: compact, path: a }\n`,
    says: [/^f\.yaml:4:12: layers\[0\]\.store: unknown store "packd" \(known: packed\)$/],
  },
  {
    mistake: "a store of an unknown type",
    yaml: "stores:\n  - { id: a, type: sqlite, path: a }\nlayers: []\n",
    says: [/^f\.yaml:2:\d+: stores\[0\]\.type: expected one of file, .*compact.*, got "sqlite"$/],
  },
  {
    mistake: "stores that share an id or directories, in the data directory's place, or with the reserved id",
    yaml: `dataDir: /d/state
stores:
  - { id: a, type: file, path: /d/tiles }
  - { id: a, type: compact, path: /d/tiles }
  - { id: b, type: compact, path: /d/tiles/b }
  - { id: c, type: file, path: /d }
  - { id: default, type: file, path: /e }
  - { id: "x y", type: file, path: /f, layout: zoom }
layers: []
`,
    says: [
      /^f\.yaml:4:\d+: stores\[1\]\.id: two stores are called "a"$/,
      /^f\.yaml:4:\d+: stores\[1\]\.path: \/d\/tiles is the directory of the store "a": stores cannot share directories$/,
      /^f\.yaml:5:\d+: stores\[2\]\.path: \/d\/tiles\/b is inside the directory of the store "a" \(\/d\/tiles\)/,
      /^f\.yaml:5:\d+: stores\[2\]\.path: \/d\/tiles\/b is inside the directory of the store "a" \(\/d\/tiles\)/,
      /^f\.yaml:6:\d+: stores\[3\]\.path: \/d holds the data directory \/d\/state/,
      /^f\.yaml:6:\d+: stores\[3\]\.path: \/d holds the directory of the store "a" \(\/d\/tiles\)/,
      /^f\.yaml:6:\d+: stores\[3\]\.path: \/d holds the directory of the store "a" \(\/d\/tiles\)/,
      /^f\.yaml:6:\d+: stores\[3\]\.path: \/d holds the directory of the store "b" \(\/d\/tiles\/b\)/,
      /^f\.yaml:7:\d+: stores\[4\]\.id: expected another id than default, which is reserved, got "default"$/,
      /^f\.yaml:8:\d+: stores\[5\]\.id: expected at most 64 letters, digits, dots, hyphens and underscores, got "x y"$/,
      /^f\.yaml:8:\d+: stores\[5\]\.layout: expected one of gwc.*, got "zoom"$/,
    ],
  },
  {
    mistake: "a disk tier without a place of its own, or of no size, or where other programs write",
    yaml: `dataDir: /d/state
store: { shared: true }
stores:
  - { id: a, type: file, path: /d/tiles }
  - { id: b, type: s3, bucket: tiles, diskTier: { path: /d/tiles/tier, sizeMiB: 1 } }
  - { id: c, type: s3, bucket: tiles, prefix: c, diskTier: { path: /d, sizeMiB: 0 } }
  - { id: d, type: file, path: /e, diskTier: { path: /f, sizeMiB: 1 } }
layers: []
`,
    says: [
      /^f\.yaml:5:\d+: stores\[1\]\.diskTier\.path: \/d\/tiles\/tier is inside the directory of the store "a"/,
      /^f\.yaml:5:\d+: stores\[1\]\.diskTier: a disk tier cannot be used with store\.shared: true/,
      /^f\.yaml:6:\d+: stores\[2\]\.diskTier\.sizeMiB: expected .*, got 0$/,
      /^f\.yaml:7:\d+: stores\[3\]\.diskTier: unknown key/,
    ],
  },
  {
    mistake: "a layer with the name of the keys that a store in S3 has for itself",
    yaml: `${layer("store: b").replace(/name: \S+/, "name: _nuthatch")}stores:
  - { id: f, type: file, path: /d/tiles }
  - { id: b, type: s3, bucket: tiles }
`,
    says: [/^f\.yaml:\d+:\d+: layers\[0\]\.name: expected another name than _nuthatch: the store "b" has keys/],
  },
  {
    mistake: "stores in S3 that share keys",
    yaml: `stores:
  - { id: a, type: s3, bucket: tiles, prefix: x }
  - { id: b, type: s3, bucket: tiles, prefix: x/y }
  - { id: c, type: s3, bucket: tiles, prefix: xy, region: eu-west-1 }
  - { id: d, type: s3, bucket: tiles, prefix: x }
  - { id: e, type: s3, bucket: tiles, endpoint: "http://u:80" }
  - { id: f, type: s3, bucket: tiles, endpoint: "http://u/", prefix: z, ca: none.pem }
`,
    says: [
      /^f\.yaml:3:\d+: stores\[1\]\.prefix: "x\/y" is inside the prefix of the store "a" \("x"\) in the bucket tiles: stores cannot share keys$/,
      /^f\.yaml:5:\d+: stores\[3\]\.prefix: "x" is the prefix of the store "a" in the bucket tiles: stores/,
      /^f\.yaml:5:\d+: stores\[3\]\.prefix: "x" holds the prefix of the store "b" \("x\/y"\) in/,
      /^f\.yaml:7:\d+: stores\[5\]\.prefix: "z" is inside the prefix of the store "e" \(""\) in/,
      /^f\.yaml:7:\d+: stores\[5\]\.ca: "none\.pem" cannot be read: there is no such file or directory$/,
      /^f\.yaml:7:\d+: stores\[5\]\.ca: expected an endpoint with https:\/\/ beside it, got "http:\/\/u\/"$/,
    ],
  },
  {
    mistake: "one blank too few",
    yaml: `layers:\n  - name: a\n    gridSubsets:\n   - { gridSet: EPSG:4326 }\n`,
    says: [/^f\.yaml:\d+:\d+: .*indentation/],
  },
  {
    mistake: "a tab",
    yaml: "layers:\n\t- name: a\n",
    says: [/^f\.yaml:2:1: .*tab characters must not be used in indentation$/],
  },
  {
    mistake: "a misspelt key",
    yaml: layer("guter: 3"),
    says: [/^f\.yaml:4:5: layers\[0\]\.guter: .*mean gutter/],
  },
  {
    mistake: "EPSG:3857 as a grid set",
    yaml: grid("gridSet: EPSG:3857"),
    says: [/^f\.yaml:4:\d+: .*EPSG:900913 is this grid set here/],
  },
  {
    mistake: "102100 as a grid set",
    yaml: grid('gridSet: "102100"'),
    says: [/^f\.yaml:4:\d+: .*EPSG:900913 is this grid set here/],
  },
  {
    mistake: "a digit too few of a grid set",
    yaml: grid("gridSet: EPSG:90013"),
    says: [/^f\.yaml:4:.*did you mean EPSG:900913\?/],
  },
  {
    mistake: "a national CRS without a grid set",
    yaml: grid("gridSet: EPSG:25832"),
    says: [/^f\.yaml:4:.*\); gridSets: defines own ones \(docs\/reference\/layer-configuration\.md#grid-sets\)/],
  },
  {
    mistake: "a missing quote",
    yaml: layer('title: "Welt'),
    says: [/^f\.yaml:\d+:\d+: .*a quoted text, .* above is not closed/],
  },
  {
    mistake: "a colon in a text",
    yaml: layer("title: Lander: Welt"),
    says: [/^f\.yaml:4:18: .*a text that holds ": " needs quotes/],
  },
  {
    mistake: "a missing brace",
    yaml: layer("metatile: [4, 4]", 'source: { type: wms, url: "http://u/"'),
    says: [/^f\.yaml:4:5: .*a \{ above is not closed/],
  },
  { mistake: "image/jpg", yaml: layer("formats: [image/jpg]"), says: [], isValid: true },
  {
    mistake: "a format that is no list",
    yaml: layer("formats: png"),
    says: [/^f\.yaml:4:14: layers\[0\]\.formats: expected a list, got "png"/],
  },
  {
    mistake: "an address without a scheme",
    yaml: layer("gutter: 0", "source: { type: wms, url: u/wms }"),
    says: [/^f\.yaml:3:\d+: .*expected an address with http:\/\/ or https:\/\//],
  },
  {
    mistake: "a port in quotes",
    yaml: 'server: { port: "19182" }\nlayers: []\n',
    says: [/^f\.yaml:1:17: .*whole number from 0 to 65535, got "19182"/],
  },
  {
    mistake: "a port that does not exist",
    yaml: "server: { port: 191820 }\nlayers: []\n",
    says: [/^f\.yaml:1:17: .*whole number from 0 to 65535/],
  },
  {
    mistake: "a public address without users",
    yaml: "server: { host: 0.0.0.0 }\nlayers: []\n",
    says: [/^f\.yaml:1:17: .*set NUTHATCH_ADMIN_PASSWORD, or add a user under users:/],
  },
  { mistake: "no layers", yaml: "server: { port: 1 }\n", says: [/no layers are configured/], isValid: true },
  {
    mistake: "a metatile of one number",
    yaml: layer("metatile: 4"),
    says: [/^f\.yaml:4:15: .*list of 2 numbers, got 4/],
  },
  {
    mistake: "levels the wrong way round",
    yaml: grid("gridSet: EPSG:4326, zoomStart: 18, zoomStop: 0"),
    says: [/^f\.yaml:4:\d+: .*expected at most zoomStop \(0\), got 18/],
  },
  {
    mistake: "level 99",
    yaml: grid("gridSet: EPSG:4326, zoomStop: 99"),
    says: [/^f\.yaml:4:\d+: .*from 0 to 63/],
  },
  {
    mistake: "level 40",
    yaml: grid("gridSet: EPSG:900913, zoomStop: 40"),
    says: [/zoomStop 40 is reduced to 30, the last level of EPSG:900913/],
    isValid: true,
  },
  {
    mistake: "a type in capitals",
    yaml: layer("gutter: 0", 'source: { type: WMS, url: "http://u/" }'),
    says: [/^f\.yaml:3:\d+: .*expected one of .*wms/],
  },
  {
    mistake: "a variable that is not set",
    yaml: layer("gutter: 0", 'source: { type: wms, url: "$' + '{UPSTREM_URL}" }'),
    says: [/^f\.yaml:3:\d+: .*the variable UPSTREM_URL is not set/],
  },
  {
    mistake: "a comma in a flow map",
    yaml: layer("gutter: 0", 'source: { type: wms, url: "http://u/", layers: a,b }'),
    says: [/^f\.yaml:3:\d+: .*layers: expected a list, got "a"/, /^f\.yaml:3:\d+: .*source\.b: unknown key/],
  },
  {
    mistake: "a version that is a number",
    yaml: layer("gutter: 0", 'source: { type: wms, url: "http://u/", version: 1.3 }'),
    says: [/^f\.yaml:3:\d+: .*one of 1\.1\.1, 1\.3\.0, got 1\.3/],
  },
  {
    mistake: "a name twice",
    yaml: `${layer("gutter: 0")}  - { name: a, ${SOURCE} }\n`,
    says: [/^f\.yaml:5:\d+: .*two layers are called "a"/],
  },
  {
    mistake: "a slash in a name",
    yaml: `layers:\n  - { name: ws/a, ${SOURCE} }\n`,
    says: [/^f\.yaml:2:13: layers\[0\]\.name: "ws\/a" has a slash: .* ws%2Fa$/],
    isValid: true,
  },
  {
    mistake: "degrees in a grid set of metres",
    yaml: grid("gridSet: EPSG:900913, extent: [5.8, 47.2, 15.1, 55.1]"),
    says: [/^f\.yaml:4:\d+: .*9\.3 x 7\.9 units .*looks like degrees: expected the units of EPSG:900913/],
    isValid: true,
  },
  {
    mistake: "an extent of less than a pixel",
    yaml: grid("gridSet: EPSG:900913, extent: [1000000, 6000000, 1000000.5, 6000000.5], zoomStop: 10"),
    says: [/^f\.yaml:4:\d+: .*less than a pixel of the finest level/],
    isValid: true,
  },
  {
    mistake: "addresses copied from XML",
    yaml: layer(
      'legends: [{ style: "", width: 9, height: 9, format: image/png, url: "http://u/l?a=b&amp;c=d" }]',
      'source: { type: wms, url: ["http://u/wms?map=a&b=c", "http://v/wms?map=a&amp;b=c"] }',
    ),
    says: [
      /^f\.yaml:3:\d+: layers\[0\]\.source\.url\[1\]: the address has &amp; as in XML .*expected & alone$/,
      /^f\.yaml:4:\d+: layers\[0\]\.legends\[0\]\.url: the address has &amp; as in XML/,
    ],
    isValid: true,
  },
  {
    mistake: "metres in a grid set of degrees",
    yaml: grid("gridSet: EPSG:4326, extent: [600000, 5000000, 900000, 6000000]"),
    says: [/^f\.yaml:4:\d+: .*does not overlap EPSG:4326 .*grid set's units/],
  },
  {
    mistake: "an extent the wrong way round",
    yaml: grid("gridSet: EPSG:4326, extent: [15, 55, 5, 47]"),
    says: [/^f\.yaml:4:\d+: .*with min < max/],
  },
  {
    mistake: "a quota in GB",
    yaml: "layers: []\ndiskQuota: { globalQuota: { value: 20, units: GB } }\n",
    says: [/^f\.yaml:2:\d+: .*expected .*KiB/],
  },
  {
    mistake: "a quota in GB as text",
    yaml: "layers: []\ndiskQuota: { globalQuota: 20GB }\n",
    says: [/^f\.yaml:2:27: .*a size such as 20GiB.*got "20GB"/],
  },
  {
    mistake: "a quota as text",
    yaml: `${layer("gutter: 0")}diskQuota: { globalQuota: 20GiB }\n`,
    says: [],
    isValid: true,
  },
  {
    mistake: "a time as text",
    yaml: layer("expireCacheSeconds: 1d"),
    says: [/^f\.yaml:4:25: .*whole number .*"1d"/],
  },
  {
    mistake: "gridsubsets",
    yaml: layer("gridsubsets: []"),
    says: [/^f\.yaml:4:5: .*did you mean gridSubsets\?/],
  },
  {
    mistake: "grid_subsets",
    yaml: layer("grid_subsets: []"),
    says: [/^f\.yaml:4:5: .*did you mean gridSubsets\?/],
  },
  {
    mistake: "a plain password",
    yaml: `${user("password: geheim-geheim, roles: [admin]").replace("layers: []\n", "")}${layer("gutter: 0")}`,
    says: [/^f\.yaml:2:5: users\[0\]: the password of ann is not hashed in the file; `nuthatch user hash` does it/],
    isValid: true,
  },
  {
    mistake: "a role that does not exist",
    yaml: user("password: geheim-geheim, roles: [root]"),
    says: [/^f\.yaml:2:\d+: .*roles\[0\]: expected one of admin, operator, viewer, got "root"/],
  },
  {
    mistake: "an administrator without a hash",
    yaml: user("passwordHash: geheim, roles: [admin]"),
    says: [/^f\.yaml:2:\d+: .*ann cannot log in, the passwordHash is none that `nuthatch user hash` makes/],
  },
  {
    mistake: "a webhook without a secret",
    yaml: "layers: []\nwebhooks:\n  - { url: hooks.example.org }\n",
    says: [/^f\.yaml:3:\d+: .*secret is missing/],
  },
  {
    mistake: "a broken expression",
    yaml: layer('parameterFilters: [{ type: regex, key: K, default: "", regex: "(" }]'),
    says: [/^f\.yaml:4:\d+: .*regex: /],
  },
  {
    mistake: "an archive that is not there",
    yaml: layer("gutter: 0", "source: { type: mbtiles, file: ./none.mbtiles }"),
    says: [/^f\.yaml:3:\d+: .*none\.mbtiles.*cannot be read: there is no such file/],
  },
  {
    mistake: "a size below 0",
    yaml: "layers: []\ndiskQuota: { globalQuota: { value: -1 } }\n",
    says: [/^f\.yaml:2:\d+: .*value: expected a number from 0 on or a text, got -1/],
  },
  {
    mistake: "mistakes in formats and levels of a layer whose source is wrong too",
    yaml: `${layer("formats: [jpegg, image/tif]", 'source: { type: WMS, url: "http://u/" }')}    gridSubsets: [{ gridSet: EPSG:3857 }, { gridSet: EPSG:4326, zoomStart: 9, zoomStop: 1, extent: [9, 9, 1, 1] }]\n`,
    says: [
      /^f\.yaml:3:\d+: .*expected one of wms/,
      /^f\.yaml:4:15: .*got "jpegg"/,
      /^f\.yaml:4:22: .*got "image\/tif"/,
      /^f\.yaml:5:\d+: .*EPSG:900913 is this grid set here/,
      /^f\.yaml:5:\d+: .*zoomStart: expected at most zoomStop \(1\), got 9/,
      /^f\.yaml:5:\d+: .*with min < max, got 9, 9, 1, 1/,
    ],
  },
  {
    mistake: "several mistakes in what people log in with",
    yaml: "users:\n  - { name: ann, passwordHash: geheim, roles: [root] }\n  - { name: ann, roles: [vewer] }\nlayers: []\n",
    says: [
      /^f\.yaml:2:\d+: .*ann cannot log in/,
      /^f\.yaml:2:\d+: .*got "root"/,
      /^f\.yaml:3:5: users\[1\]: expected either passwordHash .* or password/,
      /^f\.yaml:3:\d+: .*two users are called "ann"/,
      /^f\.yaml:3:\d+: .*got "vewer"/,
    ],
  },
  {
    mistake: "four mistakes at once",
    yaml: `${layer("guter: 1", 'source: { type: wms, url: "http://u/", connections: many }')}    gridSubsets: [{ gridSet: EPSG:90091 }]\n    formats: [jpegg]\n`,
    says: [/^f\.yaml:4:5: .*gutter/, /^f\.yaml:3:\d+: .*"many"/, /^f\.yaml:5:.*EPSG:900913/, /^f\.yaml:6:.*"jpegg"/],
  },
  {
    mistake: "a file in Latin-1",
    yaml: Buffer.from(layer("title: L\u00e4nder"), "latin1"),
    says: [/^f\.yaml:4:1: the file is not UTF-8 .*save it in the encoding UTF-8/],
  },
  {
    mistake: "a mark of bytes' order and carriage returns",
    yaml: `\ufeff${layer("gutter: 3").replaceAll("\n", "\r\n")}`,
    says: [],
    isValid: true,
  },
  {
    mistake: "an empty file",
    yaml: "",
    says: [/^f\.yaml:1:1: the configuration is empty: expected a map with layers/],
  },
  {
    mistake: "a file that is not there",
    flags: { config: "none.yaml" },
    says: [/^none\.yaml: .*there is no such file.*--config or NUTHATCH_CONFIG names another file/],
  },
  {
    mistake: "a directory instead of a file",
    flags: { config: "." },
    says: [/^\.: .*this is a directory; --config or NUTHATCH_CONFIG/],
  },
  {
    mistake: "geowebcache.xml",
    yaml: '<?xml version="1.0"?>\n<gwcConfiguration xmlns="http://geowebcache.org/schema/1.8.0">\n</gwcConfiguration>\n',
    says: [/^f\.yaml:1:1: this is GeoWebCache's configuration, .*`nuthatch serve --geowebcache DIRECTORY`/],
  },
  {
    mistake: "a misspelt variable",
    yaml: layer("gutter: 0"),
    env: { NUTHATCH_PROT: "1" },
    says: [/the variable NUTHATCH_PROT is not known; did you mean NUTHATCH_PORT\?/],
    isValid: true,
  },
  {
    mistake: "a level of the log that does not exist",
    yaml: layer("gutter: 0"),
    env: { NUTHATCH_LOG_LEVEL: "debug" },
    says: [/^NUTHATCH_LOG_LEVEL: expected one of info, warn, error, silent, got "debug"$/],
  },
  {
    mistake: "a misspelt key of --set",
    flags: { "jobs.maxRuningTasks": "1" },
    says: [/^--set jobs\.maxRuningTasks: .*maxRunningTasks|jobs\.maxRuningTasks.*did you mean/],
  },
];

test.each(MISTAKES)(
  "$mistake: the message has the place and the remedy",
  async ({ yaml, env = {}, flags, says, isValid }) => {
    writeFileSync(join(directory, "f.yaml"), yaml ?? "layers: []\n");
    const loaded = await loadConfiguration({ env, flags: { config: "f.yaml", ...flags }, cwd: directory });
    const messages = loaded.ok ? loaded.value.warnings : loaded.error.map(problemText);
    expect({ isValid: loaded.ok, messages }).toMatchObject({ isValid: isValid ?? false });
    for (const sentence of says) expect(messages).toContainEqual(expect.stringMatching(sentence));
    expect(messages.length > 0, messages.join("\n")).toBe(says.length > 0);
  },
);

test("import wms over a file that is there: the message has the name and the remedy", async () => {
  writeFileSync(join(directory, "f.yaml"), "layers: []\n");
  const { code, stdout, stderr } = await runProgram(["import", "wms", "http://127.0.0.1:9/wms", "-o", "f.yaml"], {
    cwd: directory,
  });
  expect([code, stdout, stderr]).toEqual([
    1,
    "",
    "nuthatch: f.yaml already exists: --force overwrites it, or name another file with -o\n",
  ]);
});
