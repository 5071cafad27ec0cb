declare module "../src/lib/brand.ts" {
  interface Literals {
    readonly inTests: true;
  }
}

export {};
