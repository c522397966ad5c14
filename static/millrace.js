// For all pages: the CSRF token on htmx requests, menus that close, buttons that copy, forms that ask first.

document.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-CSRFToken"] = document.querySelector("meta[name=csrf-token]").content;
});

// After the end of the session the answer is the sign-in page: reload, instead of showing it inside this page.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (new URL(event.detail.xhr.responseURL).pathname !== "/login/") return;
  event.detail.shouldSwap = false;
  location.reload();
});

// What was done too often: the answer says when it may continue. The page of a new import shows that next to its button.
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.xhr.status !== 429 || event.target.closest(".source")) return;
  document.getElementById("too-often")?.remove();
  const said = document.createElement("div");
  said.id = "too-often";
  said.className = "alert alert-warning";
  said.setAttribute("role", "alert");
  said.textContent = event.detail.xhr.responseText;
  document.querySelector("#content > .page-body > .container-xl").prepend(said);
  said.scrollIntoView({ block: "nearest" });
});

// An open menu closes on a click outside it, and on Escape, which moves the focus to its button.
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
    getSelection().selectAllChildren(source); // no clipboard over plain HTTP: select the text instead
    button.textContent = "Selected";
  }
  setTimeout(() => (button.textContent = label), 2000);
});

// <form data-confirm="question">: asks the question before the form is sent.
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

// A click on a heading while the filter's request is still delayed: that request must use the new order too.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.sort");
  const choice = document.getElementById("sort-choice");
  if (!link || !choice) return;
  const wanted = new URLSearchParams(link.search).get("sort");
  if (![...choice.options].some((option) => option.value === wanted)) choice.add(new Option(wanted, wanted));
  choice.value = wanted;
});
