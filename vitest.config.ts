import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: ["test/global-setup.ts"],
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    sequence: { shuffle: true },
    retry: 0,
    allowOnly: false,
    expect: { requireAssertions: true },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
