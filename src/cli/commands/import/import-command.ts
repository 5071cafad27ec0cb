import { Command } from "commander";
import { stringify } from "yaml";
import type { ImportSettings } from "../../../configuration/wms/import-document.ts";
import { capabilitiesAddress, type WmsProposal, wmsProposal } from "../../../configuration/wms/wms-proposal.ts";
import { errorMessage } from "../../../lib/error-code.ts";
import { answerText } from "../../../lib/text/answer-text.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { literal } from "../../../migrate/literal-text.ts";
import { createHttpFetch } from "../../../source/http/http-fetch.ts";
import { readWmsCatalogue } from "../../../source/wms/wms-catalogue.ts";
import { CommandFailure, EXIT } from "../../exit.ts";
import { GROUPS } from "../../help-groups.ts";
import { addOneTileSetFlags } from "../jobs/job-flags.ts";
import { serverCommand } from "../server-command.ts";
import { expectFree, type OutputFlags, reportProblems, writeOutput } from "./import-configuration.ts";
import { importForeignCommands } from "./import-foreign-command.ts";
import { importGeoWebCacheCommand } from "./import-geowebcache-command.ts";
import type { ImportTilesFlags } from "./import-tiles.ts";

const TIMEOUT_MS = 60_000;

const EXAMPLES = `
Examples:
  nuthatch import roads.mbtiles ws:roads
  nuthatch import /srv/gwc/mbtiles ws:roads --grid-set EPSG:900913 --format image/png --zoom 0-12
  nuthatch import /srv/gwc/mbtiles
  nuthatch import wms http://127.0.0.1:9000/wms -o nuthatch.yaml
  nuthatch import geowebcache /srv/gwc --check
  nuthatch import mapproxy /etc/mapproxy/mapproxy.yaml -o nuthatch.yaml
  nuthatch import mapcache /etc/mapcache.xml -o nuthatch.yaml`;

interface ImportFlags extends Omit<ImportSettings, "url">, OutputFlags {
  readonly layer?: readonly string[];
}

/**
 * `nuthatch import FILE LAYER`: stores tiles. `nuthatch import wms URL`: creates a configuration from the capabilities
 * of a WMS.
 */
export function importCommand(): Command {
  const wms = new Command("wms")
    .description("writes the layers of a WMS as configuration, from its capabilities")
    .argument("<url>", "the address of the WMS, with the parameters that each request needs (such as ?map=…)")
    .option("--layer <name...>", "only these layers")
    .option("--prefix <prefix>", "put before each name, such as ws:")
    .option("--username <name>", "HTTP Basic or Digest authentication at the WMS")
    .option("--password-variable <variable>", "the environment variable that holds the password")
    .option("-o, --output <file>", "write to a file instead of printing")
    .option("--force", "overwrite an existing file")
    .action(async (url: string, flags: ImportFlags) => {
      expectFree(flags);
      const { document, warnings } = await imported(url, flags);
      const variables = new Set(flags.passwordVariable === undefined ? [] : [flags.passwordVariable]);
      const text = stringify(literal(document, variables), { lineWidth: 0, aliasDuplicateObjects: false });
      writeOutput(text, flags, 0o666);
      for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
      await reportProblems(text, [...variables]);
    });
  const command = serverCommand("import", "stores the tiles of MBTiles in a layer; import wms writes a configuration")
    .argument("<file>", "MBTiles, or a directory of GeoWebCache's MBTiles store")
    .argument("[layer]", "the name of a layer; absent: all tile sets in GeoWebCache's directory, by their names");
  for (const foreign of importForeignCommands()) command.addCommand(foreign);
  return addOneTileSetFlags(command)
    .optionsGroup(GROUPS.how)
    .option("--keep", "do not replace stored tiles: continues an interrupted import")
    .addHelpText("after", EXAMPLES)
    .action(async (file: string, layer: string | undefined, flags: ImportTilesFlags) => {
      const { importTiles, importTileSets } = await import("./import-tiles.ts");
      if (layer === undefined) await importTileSets(file, flags);
      else await importTiles(file, layer, flags);
    })
    .addCommand(wms)
    .addCommand(importGeoWebCacheCommand());
}

/** @throws CommandFailure */
async function imported(url: string, flags: ImportFlags): Promise<WmsProposal> {
  const read = readWmsCatalogue(await capabilities(url, flags));
  if (!read.ok) throw new CommandFailure(`the answer of ${url} cannot be used: ${read.error}`, EXIT.failure);
  const known = read.value.layers.map(({ name }) => name);
  const unknown = flags.layer?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length > 0)
    throw new CommandFailure(`the WMS has no layer ${unknown.join(", ")}; it has ${known.join(", ")}`, EXIT.usage);
  const chosen = read.value.layers.filter(({ name }) => flags.layer?.includes(name) ?? true);
  const proposal = wmsProposal(chosen, read.value, { ...flags, url });
  if (!proposal.ok) throw new CommandFailure(proposal.error, EXIT.failure);
  return proposal.value;
}

async function capabilities(url: string, { username, passwordVariable }: ImportFlags): Promise<string> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new CommandFailure(`expected the http address of a WMS, got ${JSON.stringify(url)}`, EXIT.usage);
  const address = capabilitiesAddress(url);
  const password = passwordVariable === undefined ? "" : (process.env[passwordVariable] ?? "");
  // The operator has just typed the address, so messages may show it completely.
  await using upstream = createHttpFetch(
    machineClock,
    {
      timeoutMs: TIMEOUT_MS,
      connections: 1,
      vendorParameters: {},
      ...(username === undefined ? {} : { username, password }),
    },
    [],
  );
  const { status, contentType, body } = await upstream
    .request({ url: address, form: undefined }, new AbortController().signal, (answer) => answer)
    .catch((error: unknown) => {
      throw new CommandFailure(`no answer from ${url}: ${errorMessage(error)}`, EXIT.failure);
    });
  if (status !== 200) throw new CommandFailure(`${address.href} answered with status ${status}`, EXIT.failure);
  return answerText(body, contentType);
}
