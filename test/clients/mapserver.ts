import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAM = "/usr/lib/cgi-bin/mapserv";
export const hasMapServer = existsSync(PROGRAM);

const mapFile = (more: string): string => `MAP
  NAME "test"
  FONTSET "fonts.list"
  EXTENT -180 -90 180 90
  SIZE 256 256
  IMAGECOLOR 200 220 240
  PROJECTION "init=epsg:4326" END
  WEB METADATA
    "ows_title" "test" "ows_onlineresource" "http://127.0.0.1/" "ows_enable_request" "*"
    "ows_srs" "EPSG:4326 EPSG:3857 EPSG:900913"
  END END
  LAYER
    NAME "roads" TYPE POLYGON STATUS ON TEMPLATE "none"
    PROJECTION "init=epsg:4326" END
    METADATA "ows_title" "roads" "ows_srs" "EPSG:4326 EPSG:3857 EPSG:900913" END
    FEATURE POINTS -120 -40 -20 -40 -20 50 -120 50 -120 -40 END END
    FEATURE POINTS 10 10 100 -30 130 60 40 70 10 10 END END
    CLASS NAME "land" STYLE COLOR 190 120 60 OUTLINECOLOR 60 30 20 WIDTH 3 END END
  END
${more}END
`;

export interface MapServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Debian's MapServer as CGI behind a small HTTP server: a real upstream of Nuthatch. `more`: further objects of the
 * map, in the language of the map file; `fonts`: the names of font files.
 */
export async function startMapServer(more = "", fonts = ""): Promise<MapServer> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-mapserver-"));
  writeFileSync(join(directory, "test.map"), mapFile(more));
  writeFileSync(join(directory, "fonts.list"), `${fonts}\n`);
  // Without its own configuration MapServer 8 answers 200 with HTML.
  writeFileSync(
    join(directory, "mapserver.conf"),
    `CONFIG\n  ENV\n    MS_MAP_PATTERN "."\n  END\n  MAPS\n    TEST "${join(directory, "test.map")}"\n  END\nEND\n`,
  );
  const server = createServer((request, response) => {
    const child = spawn(PROGRAM, {
      env: {
        MAPSERVER_CONFIG_FILE: join(directory, "mapserver.conf"),
        REQUEST_METHOD: "GET",
        QUERY_STRING: new URL(request.url ?? "/", "http://any").search.slice(1),
        SERVER_NAME: "127.0.0.1",
        SERVER_PORT: "80",
        SCRIPT_NAME: "/wms",
      },
    });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("close", () => {
      const whole = Buffer.concat(chunks);
      const split = whole.indexOf("\r\n\r\n");
      const type =
        /content-type:\s*(.+)/i.exec(whole.subarray(0, split).toString("latin1"))?.[1]?.trim() ?? "text/plain";
      response.writeHead(200, { "Content-Type": type });
      response.end(whole.subarray(split + 4));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/wms?map=TEST`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
