/** The mark of the program: three tiles and a seed, as its icon in the browser. */
export const Logo = () => (
  <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="6" fill="#2c6e8f" />
    <path d="M5 5h10v10H5zM17 5h10v10H17zM5 17h10v10H5z" fill="#d9e8ef" />
    <path d="M22 16.5c4 1.6 5.6 4.4 5 6.8-.6 2.4-2.6 4-5 4s-4.4-1.6-5-4c-.6-2.4 1-5.2 5-6.8z" fill="#e0a458" />
  </svg>
);
