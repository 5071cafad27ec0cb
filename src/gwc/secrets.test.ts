import { expect, test } from "vitest";
import { list, map } from "./document-node.ts";
import { withoutSecrets, withSecrets } from "./secrets.ts";

const feed = (url: string, password?: string) =>
  map([
    ["feedUrl", url],
    ["httpPassword", password],
  ]);
const layer = (password: string, ...feeds: ReturnType<typeof map>[]) =>
  map([
    ["httpPassword", password],
    ["updateSources", list("geoRssFeed", feeds)],
  ]);

test("a masked document that is put back has the secrets of the present one, at any depth", () => {
  const present = layer("own", feed("a", "first"), feed("b", "second"), feed("c"));
  const shown = withoutSecrets(present);
  expect(JSON.stringify(shown)).not.toMatch(/own|first|second/);
  expect(withSecrets(shown, present)).toEqual(present);
});

test("an item that has moved keeps its own secret, and a new one gets none of another item", () => {
  const present = layer("own", feed("a", "first"), feed("b", "second"));
  const moved = layer("***", feed("new", "***"), feed("b", "***"), feed("a", "***"));
  const expected = layer("own", feed("new"), feed("b", "second"), feed("a", "first"));
  expect(withSecrets(moved, present)).toEqual(expected);
});

test("the value of a vendor parameter that is masked is that of the present one", () => {
  const vendor = (text: string) => map([["vendorParameters", text]]);
  expect(withSecrets(vendor("MAP=***&KEY=new"), vendor("MAP=/srv/a.map&KEY=old"))).toEqual(
    vendor("MAP=/srv/a.map&KEY=new"),
  );
});
