import { createHmac } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../../test/support/network/receiver.ts";
import { type Webhook, webhookId } from "../jobs/job-event.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import { createWebhookPost, type WebhookPost } from "./webhook-post.ts";

let receiver: Receiver;
let post: WebhookPost;
beforeAll(async () => {
  receiver = await startReceiver();
  post = createWebhookPost(machineClock);
});
beforeEach(() => {
  receiver.answer = () => ({ status: 204 });
});
afterAll(async () => {
  await post[Symbol.asyncDispose]();
  await receiver.close();
});

const never = new AbortController().signal;
const delivery = { number: 1, id: "d-1", event: "done", job: '{"id":9007199254740993}', createdMs: 0, attempts: 0 };
const to = (path: string): Webhook => {
  const url = receiver.url + path;
  return { id: webhookId(url), url, authorization: "Basic dTpw", events: ["done"], layers: null, secret: "s3cret" };
};

test("a delivery says what it is in its headers and is signed over its whole body", async () => {
  expect(await post.send(to("/hook?key=1"), delivery, 1000, never)).toBeUndefined();
  const { path, headers, body } = receiver.received.at(-1) ?? { path: "", headers: {}, body: "" };
  expect(path).toBe("/hook?key=1");
  expect(body).toBe('{"id":"d-1","event":"done","sentAt":"1970-01-01T00:00:01.000Z","job":{"id":9007199254740993}}');
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "x-nuthatch-event": "done",
    "x-nuthatch-delivery": "d-1",
    "x-nuthatch-signature": `sha256=${createHmac("sha256", "s3cret").update(body).digest("hex")}`,
    authorization: "Basic dTpw",
  });
});

test("a status other than 2xx, a redirect, a closed connection or no listener is a failure, reported without the address", async () => {
  const failures: (string | undefined)[] = [];
  for (const status of [200, 302, 401, 500]) {
    receiver.answer = () => ({ status, location: `${receiver.url}/elsewhere` });
    failures.push(await post.send(to("/hook"), delivery, 0, never));
  }
  expect(failures).toEqual([undefined, "status 302", "status 401", "status 500"]);
  expect(receiver.received.filter(({ path }) => path === "/elsewhere")).toEqual([]);
  // No server listens on port 1.
  const unreachable = { ...to("/"), url: "http://127.0.0.1:1/token" };
  expect(await post.send(unreachable, delivery, 0, never)).toBe("ECONNREFUSED");
});

test("a delivery waits for a receiver that does not answer until the server closes", async () => {
  receiver.answer = () => undefined;
  const close = new AbortController();
  const before = receiver.received.length;
  const sending = post.send(to("/hook"), delivery, 0, close.signal);
  await expect.poll(() => receiver.received.length).toBe(before + 1);
  close.abort();
  expect(await sending).toBe("cancelled");
});
