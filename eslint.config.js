import regexp from "eslint-plugin-regexp";
import tseslint from "typescript-eslint";

export default [
  { ignores: ["dist/**", "node_modules/**", "data/**"] },
  {
    files: ["src/**/*.ts", "test/**/*.ts", "bench/**/*.ts"],
    languageOptions: { parser: tseslint.parser, parserOptions: { project: "./tsconfig.json" } },
    plugins: { "@typescript-eslint": tseslint.plugin },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    files: ["ui/**/*.ts", "ui/**/*.tsx"],
    languageOptions: { parser: tseslint.parser, parserOptions: { project: "./ui/tsconfig.json" } },
    plugins: { "@typescript-eslint": tseslint.plugin },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    // Clients choose what most of our expressions are matched against.
    files: ["src/**/*.ts", "bin/**/*.mjs"],
    languageOptions: { parser: tseslint.parser },
    plugins: { regexp },
    rules: {
      "regexp/no-super-linear-backtracking": ["error", { report: "potential" }],
      "regexp/no-super-linear-move": ["error", { report: "potential", ignoreSticky: true }],
    },
  },
  {
    // The block table alone keeps blocks: an object's fields, and what modules hand each other, name them by address.
    files: ["src/**/*.ts"],
    ignores: ["src/ledger/block-table.ts", "src/ledger/*.test.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        ...[
          "PropertyDefinition",
          "ExportNamedDeclaration > TSInterfaceDeclaration",
          "ExportNamedDeclaration > TSTypeAliasDeclaration",
        ].map((holder) => ({
          selector: `${holder} TSTypeReference[typeName.name="Block"]`,
          message: "The block table may let a block go at any await: keep its BlockAddress and ask the table again.",
        })),
      ],
    },
  },
];
