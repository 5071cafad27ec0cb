const HOLDERS = [
  "PropertyDefinition",
  "ExportNamedDeclaration > TSInterfaceDeclaration",
  "ExportNamedDeclaration > TSTypeAliasDeclaration",
];

/** The project's own rules for oxlint. */
export default {
  meta: { name: "nuthatch" },
  rules: {
    // The block table alone keeps blocks: an object's fields, and what modules hand each other, name them by address.
    "no-kept-block": {
      create(context) {
        const selector = HOLDERS.map((holder) => `${holder} TSTypeReference[typeName.name="Block"]`).join(", ");
        return {
          [selector](node) {
            context.report({
              node,
              message:
                "The block table may let a block go at any await: keep its BlockAddress and ask the table again.",
            });
          },
        };
      },
    },
  },
};
