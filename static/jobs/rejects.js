// The grid of rejected rows: nothing leaves a change behind that was not kept, without a question. The row's message, or
// that at the top of the page, says why it was not.
(() => {
  const REFUSED = 422;

  document.addEventListener("htmx:afterRequest", ({ detail: { elt, successful, xhr } }) => {
    if (!elt.matches(".reject-grid tr")) return;
    if (successful) delete elt.dataset.unkept;
    else elt.dataset.unkept = xhr.status;
  });

  // Requests of the grid wait for those before them: this one is about to be sent, and all changes have been answered.
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt } = event.detail;
    if (elt.matches(".reject-grid *, #job-fixed")) return;
    const rows = [...(elt.closest("#job-reject-grid")?.querySelectorAll("[data-unkept]") ?? [])];
    if (!rows.length) return;
    if (confirm(question(rows))) return rows.forEach((row) => delete row.dataset.unkept);
    event.preventDefault();
    // What failed, unlike what was refused, may succeed now.
    rows.filter((row) => Number(row.dataset.unkept) !== REFUSED).forEach((row) => htmx.trigger(row, "change"));
  });

  addEventListener("beforeunload", (event) => {
    if (document.querySelector(".reject-grid [data-unkept]")) event.preventDefault();
  });

  function question(rows) {
    const lines = rows.map((row) => row.cells[0].textContent.trim()).join(", ");
    return `What you entered in line ${lines} was not kept. Continue without it? Cancel keeps it here.`;
  }
})();
