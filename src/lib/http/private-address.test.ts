import { expect, test } from "vitest";
import { isPrivateAddress, lookupPublic } from "./private-address.ts";

test("addresses of this machine, of its link and of private networks are private, in every form", () => {
  for (const address of [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:a00:1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "fd00::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
  ])
    expect([address, isPrivateAddress(address)]).toEqual([address, true]);
});

test("addresses of the internet are not private", () => {
  for (const address of [
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "169.253.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "193.0.0.1",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450::1",
    "::ffff:1.1.1.1",
  ])
    expect([address, isPrivateAddress(address)]).toEqual([address, false]);
});

test("a name that resolves to this machine is refused, whether one address or all are wanted", async () => {
  for (const all of [true, false]) {
    const error = await new Promise((resolve) => lookupPublic("localhost", { all }, (failed) => resolve(failed)));
    expect(error).toMatchObject({ code: "EPRIVATE" });
  }
});
