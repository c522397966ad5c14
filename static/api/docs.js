// The page about the API: shows only the operations, schemas and problems that have all words of the filter.
(() => {
  const filter = document.getElementById("api-filter");
  const parts = [...document.querySelectorAll(".api-operation, .api-schemas > details, .api-problems tbody tr")];
  const known = parts.map((part) => [part, (part.querySelector("summary") ?? part).textContent.toLowerCase()]);
  function show() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const [part, text] of known) part.hidden = !words.every((word) => text.includes(word));
    const sections = [...new Set(parts.map((part) => part.closest("section")))];
    for (const section of sections) section.hidden = parts.every((part) => part.hidden || !section.contains(part));
    document.getElementById("api-none").hidden = sections.some((section) => !section.hidden);
  }
  filter.hidden = false;
  filter.addEventListener("input", show);
  show();
})();
