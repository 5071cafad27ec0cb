import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../lib/error-code.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import { makeDirectory } from "../../lib/file/make-directory.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";

/**
 * Makes GeoWebCache's default `geowebcache.xml` in a directory without one: two grid sets, three sample layers and a
 * store that is not enabled. Returns warnings.
 */
export async function makeDefaultFiles(directory: string, file: string): Promise<Result<readonly string[], string>> {
  try {
    await access(file);
    return ok([]);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") return refuse(`the directory cannot be read: ${fileFault(error)}`);
  }
  try {
    await makeDirectory(directory);
    await writeFile(file, DEFAULT_FILE, { flag: "wx" });
    await writeFile(join(directory, "users.properties"), DEFAULT_USERS, { flag: "wx", mode: 0o600 });
  } catch (error) {
    // The directory already has a file of users.
    if (codeOf(error) === "EEXIST") return ok([]);
    return refuse(`geowebcache.xml is missing and cannot be made: ${fileFault(error)}`);
  }
  return ok([
    `${file} was missing: GeoWebCache's sample layers have been written there, and its account geowebcache with the password secured in users.properties`,
  ]);
}

/** The account that GeoWebCache has until an operator changes it. */
export const DEFAULT_ACCOUNT = { name: "geowebcache", password: "secured" } as const;
const DEFAULT_USERS = `${DEFAULT_ACCOUNT.name}=${DEFAULT_ACCOUNT.password},ROLE_ADMINISTRATOR,enabled\n`;

const numbers = (name: string, values: readonly number[], indent: string): string =>
  values.map((value) => `${indent}<${name}>${value}</${name}>\n`).join("");

const strings = (values: readonly string[], indent: string): string =>
  values.map((value) => `${indent}<string>${value}</string>\n`).join("");

const gridSet = (name: string, srs: number, extent: readonly number[], rest: string): string => `    <gridSet>
      <name>${name}</name>
      <srs>
        <number>${srs}</number>
      </srs>
      <extent>
        <coords>
${numbers("double", extent, "          ")}        </coords>
      </extent>
${rest}    </gridSet>
`;

const doubles = (name: string, values: readonly number[]): string =>
  `      <${name}>\n${numbers("double", values, "        ")}      </${name}>\n`;

const FORMATS = `      <mimeFormats>
${strings(["image/gif", "image/jpeg", "image/png", "image/png8"], "        ")}      </mimeFormats>
`;

const subset = (name: string, extent?: readonly number[]): string => `        <gridSubset>
          <gridSetName>${name}</gridSetName>
${
  extent === undefined
    ? ""
    : `          <extent>
            <coords>
${numbers("double", extent, "              ")}            </coords>
          </extent>
`
}        </gridSubset>
`;

const wmsUrl = (path: string): string => `      <wmsUrl>
        <string>http://localhost:8080/geoserver/${path}</string>
      </wmsUrl>
`;

const legend = (style: string, fields: readonly (readonly [string, number])[] = []): string =>
  fields.length === 0
    ? `        <legend style="${style}"/>\n`
    : `        <legend style="${style}">\n${fields.map(([name, value]) => `          <${name}>${value}</${name}>\n`).join("")}        </legend>\n`;

const SMALL = [
  ["width", 20],
  ["height", 20],
] as const;
const STATES = [-129.6, 3.45, -62.1, 70.9];

const rule = (name: string, seconds: number): string => `      <${name}>
        <expirationRule minZoom="0" expiration="${seconds}"/>
      </${name}>
`;

const layers = `    <wmsLayer>
      <name>states</name>
${FORMATS}      <gridSubsets>
${subset("EPSG:4326", STATES)}${subset("EPSG:2163")}      </gridSubsets>
      <parameterFilters>
        <stringParameterFilter>
          <key>STYLES</key>
          <defaultValue>population</defaultValue>
          <values>
${strings(["population", "polygon", "pophatch"], "            ")}          </values>
        </stringParameterFilter>
      </parameterFilters>
${wmsUrl("topp/wms")}      <legends defaultWidth="81" defaultHeight="80" defaultFormat="image/png">
${legend("population")}${legend("pophatch")}${legend("polygon", SMALL)}      </legends>
    </wmsLayer>
    <wmsLayer>
      <name>raster test layer</name>
${FORMATS}      <gridSubsets>
${subset("EPSG:4326")}${subset("CanadaAtlasNonotree")}      </gridSubsets>
${wmsUrl("wms")}      <wmsLayers>nurc:Arc_Sample</wmsLayers>
      <legends defaultWidth="20" defaultHeight="20" defaultFormat="image/png">
${legend("")}      </legends>
    </wmsLayer>
    <wmsLayer>
      <name>img states</name>
      <metaInformation>
        <title>Nicer title for Image States</title>
        <description>This is a description. Fascinating.</description>
      </metaInformation>
${FORMATS}      <gridSubsets>
${subset("EPSG:4326", STATES)}      </gridSubsets>
${rule("expireCacheList", 60)}${rule("expireClientsList", 500)}${wmsUrl("wms")}      <wmsLayers>nurc:Img_Sample,topp:states</wmsLayers>
      <transparent>false</transparent>
      <bgColor>0x0066FF</bgColor>
      <legends defaultWidth="81" defaultHeight="80" defaultFormat="image/png">
${legend("population")}${legend("pophatch")}${legend("polygon", [...SMALL, ["minScale", 5000], ["maxScale", 10_000]])}${legend("raster", SMALL)}      </legends>
    </wmsLayer>
`;

const CONTACT = [
  ["individualName", "John Smith"],
  ["positionName", "Geospatial Expert"],
  ["addressType", "Work"],
  ["addressStreet", "1 Bumpy St."],
  ["addressCity", "Hobart"],
  ["addressAdministrativeArea", "TAS"],
  ["addressPostalCode", "7005"],
  ["addressCountry", "Australia"],
  ["phoneNumber", "+61 3 0000 0000"],
  ["faxNumber", "+61 3 0000 0001"],
  ["addressEmail", "john.smith@example.com"],
]
  .map(([name, value]) => `        <${name}>${value}</${name}>\n`)
  .join("");

const SCHEMA = "http://geowebcache.org/schema/2.0.0";
const LAMBERT = [-2495667.977678598, -2223677.196231552, 3291070.6104286816, 959189.3312465074];
const CANADA = [21945.0742188, 7315.02473958, 2438.34157986, 812.78052662, 270.926842207];

const DEFAULT_FILE = `<?xml version="1.0" encoding="utf-8"?>
<gwcConfiguration xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns="${SCHEMA}" xsi:schemaLocation="${SCHEMA} ${SCHEMA}/geowebcache.xsd">
  <version>2.0.0</version>
  <backendTimeout>120</backendTimeout>
  <serviceInformation>
    <title>GeoWebCache</title>
    <description>GeoWebCache is an advanced tile cache for WMS servers. It supports a large variety of protocols and
      formats, including WMS-C, WMTS, KML, Google Maps and Virtual Earth.</description>
    <keywords>
${strings(["WMS", "WMTS", "GEOWEBCACHE"], "      ")}    </keywords>
    <serviceProvider>
      <providerName>John Smith inc.</providerName>
      <providerSite>http://www.example.com/</providerSite>
      <serviceContact>
${CONTACT}      </serviceContact>
    </serviceProvider>
    <fees>NONE</fees>
    <accessConstraints>NONE</accessConstraints>
  </serviceInformation>
  <blobStores>
    <FileBlobStore default="false">
      <id>defaultCache</id>
      <enabled>false</enabled>
      <baseDirectory>/tmp/defaultCache</baseDirectory>
      <fileSystemBlockSize>4096</fileSystemBlockSize>
    </FileBlobStore>
  </blobStores>
  <gridSets>
${gridSet("EPSG:2163", 2163, LAMBERT, `${doubles("scaleDenominators", [25_000_000, 1_000_000, 100_000, 25_000])}      <tileHeight>200</tileHeight>\n      <tileWidth>200</tileWidth>\n`)}${gridSet("CanadaAtlasNonotree", 3979, [-2441613, -861451, 3176326, 3969977], doubles("resolutions", CANADA))}  </gridSets>
  <layers>
${layers}  </layers>
</gwcConfiguration>
`;
