import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../test/support/server/run-program.ts";

test("a file in a directory that is not there is refused with both names, before a server is asked", async () => {
  const directory = join(tmpdir(), "nuthatch-not-there");
  for (const [file, ...command] of [
    [join(directory, "a.pmtiles"), "export", "a", "--to"],
    [join(directory, "a.mbtiles"), "export", "a", "--to"],
    [join(directory, "a.yaml"), "import", "wms", "http://127.0.0.1:1/wms", "-o"],
  ] as const) {
    const { code, stderr } = await runProgram([...command, file], { env: { NUTHATCH_URL: "http://127.0.0.1:1" } });
    expect([code, stderr]).toEqual([
      1,
      `nuthatch: ${file} cannot be written: ${directory}: there is no such directory\n`,
    ]);
  }
});
