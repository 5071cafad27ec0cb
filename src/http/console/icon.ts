/** An icon: three tiles and a seed. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#2c6e8f"/><g fill="#d9e8ef"><rect x="5" y="5" width="10" height="10" rx="1.5"/><rect x="17" y="5" width="10" height="10" rx="1.5"/><rect x="5" y="17" width="10" height="10" rx="1.5"/></g><path d="M22 16.5c4 1.6 5.6 4.4 5 6.8-.6 2.4-2.6 4-5 4s-4.4-1.6-5-4c-.6-2.4 1-5.2 5-6.8z" fill="#e0a458"/></svg>
`;
