import { expect, test } from "vitest";
import { silentLog } from "../../../test/support/silent-log.ts";
import { loadConfiguration } from "../../configuration/load.ts";
import { remoteMethods } from "../../lib/process/method-table.ts";
import { MEMBER, type MemberMethods } from "../process/process-methods.ts";
import { ServingMembers } from "./serving-members.ts";

class Members extends ServingMembers {
  add(member: MemberMethods, end: () => void): void {
    this.addMember(member, end);
  }

  hasEnded(member: MemberMethods): void {
    this.removeMember(member);
  }

  allApplied(): Promise<void> {
    return this.applied();
  }
}

const FAULT = new Error("it is out of memory");

/** Returns a member whose calls end as `answer` does. */
const memberOf = (answer: () => Promise<never>): MemberMethods =>
  remoteMethods({ call: answer, callUntil: answer, note: () => {} }, MEMBER);

async function startMembers() {
  const loaded = await loadConfiguration({ env: {}, flags: {}, cwd: "/" });
  if (!loaded.ok) expect.fail("the default configuration is valid");
  const logged: unknown[] = [];
  const log = { ...silentLog, error: (sentence: string, fields?: object) => void logged.push([sentence, fields]) };
  return { members: new Members(loaded.value, log), configuration: loaded.value, logged };
}

test("a change that a living member fails to apply is answered when the member has been ended", async () => {
  const { members, configuration, logged } = await startMembers();
  for (const [n, change] of [
    () => members.configure(configuration),
    () => members.configureLayer({ name: "a", made: undefined }),
    () => members.allApplied(),
    () => members.ready({ ready: true }),
  ].entries()) {
    const failing = memberOf(() => Promise.reject(FAULT));
    const asked = new Promise<void>((resolve) => members.add(failing, resolve));
    let isAnswered = false;
    const answered = change().then(() => {
      isAnswered = true;
    });
    await asked;
    await new Promise(setImmediate);
    expect(isAnswered).toBe(false);
    members.hasEnded(failing);
    await answered;
    expect(logged).toHaveLength(n + 1);
    expect(JSON.stringify(logged[n])).toContain("out of memory");
    expect((await members.metrics()).failedChanges).toBe(n + 1);
  }
});

test("a member that ends during a change has applied it, and is not reported", async () => {
  const { members, configuration, logged } = await startMembers();
  const ending = memberOf(async () => {
    members.hasEnded(ending);
    throw FAULT;
  });
  members.add(ending, () => expect.fail("it has ended already"));
  await members.configure(configuration);
  expect(logged).toEqual([]);
});

test("stores that a living member cannot look at have a fault, and those of one that ends have none", async () => {
  const { members } = await startMembers();
  const failing = memberOf(() => Promise.reject(FAULT));
  members.add(failing, () => {});
  expect(await members.storesFault([], "mark")).toContain("out of memory");
  members.hasEnded(failing);
  const ending = memberOf(async () => {
    members.hasEnded(ending);
    throw FAULT;
  });
  members.add(ending, () => {});
  expect(await members.storesFault([], "mark")).toBeUndefined();
});
