import { expect, test } from "vitest";
import { withMaskedAddresses, withSecrets } from "./secrets.ts";

const content = (url: unknown) => ({ name: "a", source: { type: "wms", url } });

test("values in the queries of a source's addresses are masked, and come back where they were not changed", () => {
  const present = content(["http://a/wms?map=/x.map&api_key=k1", "http://b/wms"]);
  const shown = withMaskedAddresses(present);
  expect(shown).toEqual(content(["http://a/wms?map=***&api_key=***", "http://b/wms"]));
  expect(withSecrets(shown, present)).toEqual({ ok: true, value: present });
  expect(withSecrets(content("http://c/wms?api_key=***"), content("http://a/wms?api_key=k1"))).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("source.url") },
  });
  expect(withSecrets(content("http://c/wms?api_key=k2"), present)).toMatchObject({ ok: true });
});
