// Loaded before a process of a node (NODE_OPTIONS=--require): its wall clock is ahead of the other machines'.
const aheadMs = Number(process.env.TEST_CLOCK_AHEAD_MS);
const RealDate = Date;
const now = () => RealDate.now() + aheadMs;
globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(now());
    else super(...given);
  }
  static now() {
    return now();
  }
};
