// Sets the theme before the first paint, so that a dark page does not flash white. "auto" follows the system.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => {
    try {
      return localStorage.getItem("theme") || "auto";
    } catch {
      return "auto"; // storage is switched off
    }
  };
  const apply = () => {
    const choice = stored();
    root.dataset.themeChoice = choice;
    root.dataset.bsTheme = choice === "auto" ? (system.matches ? "dark" : "light") : choice;
    document.dispatchEvent(new CustomEvent("millrace:theme"));
  };
  apply();
  system.addEventListener("change", apply);
  addEventListener("storage", apply);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-set]");
    if (!button) return;
    try {
      localStorage.setItem("theme", button.dataset.themeSet);
    } catch {
      root.dataset.themeChoice = button.dataset.themeSet;
    }
    apply();
  });
})();
