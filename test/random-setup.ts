import fc from "fast-check";
import { testSeed } from "./support/test-seed.ts";

// One seed for all properties of a run; fast-check prints it with a failure.
fc.configureGlobal({ seed: testSeed() });
