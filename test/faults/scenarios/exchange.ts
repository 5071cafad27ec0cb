import { existsSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { writeMbtiles } from "../../support/stores/archive-fixture.ts";
import type { Scenario } from "../scenario.ts";
import { wideLayer } from "./layers.ts";

/** A command that writes one file: the file is absent or whole, and the repeated command makes it whole. */
function writing(name: string, file: string, args: (path: string, dataDir: string) => readonly string[]): Scenario {
  return {
    name,
    options: wideLayer,
    begin: (trial) => {
      const path = join(trial.directory, file);
      let code: number | null = null;
      const isThere = existsSync;
      return {
        prepare: () => trial.seeded("a"),
        act: async () => {
          ({ code } = await trial.command(args(path, trial.dataDir)));
        },
        check: async () => {
          const problems: string[] = [];
          if (code === 0 && !isThere(path)) problems.push("the command has succeeded, and there is no file");
          const again = await trial.command([...args(path, trial.dataDir), "--force"]);
          if (again.code !== 0) problems.push(`the repeated command ended with ${again.code}: ${again.stderr}`);
          return problems;
        },
      };
    },
  };
}

const exportMbtiles = writing("export to MBTiles", "a.mbtiles", (path) => [
  "export",
  "a",
  "--zoom",
  "0-2",
  "--to",
  path,
]);
const exportPmtiles = writing("export to PMTiles", "a.pmtiles", (path) => [
  "export",
  "a",
  "--zoom",
  "0-2",
  "--to",
  path,
]);
const backup = writing("backup", "backup.db", (path, dataDir) => ["backup", path, "--data-dir", dataDir]);

/** An import is repeated with the same result. */
const importMbtiles: Scenario = {
  name: "import of MBTiles",
  options: wideLayer,
  begin: (trial) => {
    const file = join(trial.directory, "in.mbtiles");
    let code: number | null = null;
    const tiles = async (): Promise<number | undefined> =>
      (await trial.get<{ total: { tiles: number } }>("/api/v1/usage"))?.total.tiles;
    return {
      prepare: async () => {
        const bytes = await sharp({ create: { width: 256, height: 256, channels: 3, background: "red" } })
          .png()
          .toBuffer();
        const places = [0, 1].flatMap((z) =>
          Array.from({ length: 4 ** z }, (_, n) => ({ z, x: n % 2 ** z, y: Math.floor(n / 2 ** z), bytes })),
        );
        writeMbtiles(file, { metadata: { format: "png" }, tiles: places });
      },
      act: async () => {
        ({ code } = await trial.command(["import", file, "a"]));
      },
      check: async () => {
        const before = await tiles();
        const problems = code === 0 && before !== 5 ? [`the import has ended, and ${before} tiles are stored`] : [];
        const again = await trial.command(["import", file, "a", "--keep"]);
        if (again.code !== 0 || (await tiles()) !== 5)
          problems.push(`the repeated import ended with ${again.code}, ${await tiles()} tiles: ${again.stderr}`);
        return problems;
      },
    };
  },
};

export const EXCHANGE: readonly Scenario[] = [exportMbtiles, exportPmtiles, backup, importMbtiles];
