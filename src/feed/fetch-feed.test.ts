import { expect, test } from "vitest";
import { startOrigin } from "../../test/support/upstream/origin.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import { fetchFeed } from "./fetch-feed.ts";

const feed = (encoding?: string): string =>
  `<?xml version="1.0"${encoding === undefined ? "" : ` encoding="${encoding}"`}?><feed><title>Straße</title></feed>`;

test.each([
  [Buffer.from(feed()), "application/atom+xml"],
  [Buffer.from(feed("ISO-8859-1"), "latin1"), "application/atom+xml"],
  [Buffer.from(feed(), "latin1"), "application/atom+xml; charset=iso-8859-1"],
  [Buffer.from(`\ufeff${feed("UTF-16")}`, "utf16le"), "application/atom+xml"],
])("a feed is read in its own encoding (%#)", async (body, contentType) => {
  const { origin, close } = await startOrigin((_, response) => {
    response.writeHead(200, { "Content-Type": contentType }).end(body);
  });
  try {
    expect(await fetchFeed(machineClock, origin, {}, new AbortController().signal)).toContain("<title>Straße</title>");
  } finally {
    await close();
  }
});

test("a feed with bytes that its encoding does not have is refused", async () => {
  const { origin, close } = await startOrigin((_, response) => void response.end(Buffer.from(feed(), "latin1")));
  try {
    await expect(fetchFeed(machineClock, origin, {}, new AbortController().signal)).rejects.toThrow(
      "no text in its encoding",
    );
  } finally {
    await close();
  }
});
