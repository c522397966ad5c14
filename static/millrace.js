// What every page needs: the CSRF token on htmx requests, menus that close, and buttons that copy.

document.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-CSRFToken"] = document.querySelector("meta[name=csrf-token]").content;
});

// A session that has ended answers with the sign-in page: go there, instead of putting it into this one.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (new URL(event.detail.xhr.responseURL).pathname !== "/login/") return;
  event.detail.shouldSwap = false;
  location.reload();
});

// An open menu closes on a click outside it and on Escape, and gives the focus back.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// <button data-copy="#id">: copies the text of that element.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.querySelector(button.dataset.copy);
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source); // no clipboard over plain HTTP: leave it selected
    button.textContent = "Selected";
  }
  setTimeout(() => (button.textContent = label), 2000);
});

// <form data-confirm="question">: asks before it is sent.
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

// A heading that is clicked right after typing: the form's own request, still waiting, must ask for the new order too.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.sort");
  const choice = document.getElementById("sort-choice");
  if (!link || !choice) return;
  const wanted = new URLSearchParams(link.search).get("sort");
  if (![...choice.options].some((option) => option.value === wanted)) choice.add(new Option(wanted, wanted));
  choice.value = wanted;
});
