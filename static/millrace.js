// For all pages: the CSRF token on htmx requests, menus that close, buttons that copy, forms that ask first and are sent
// once.

// The CSRF token of the present session, which may have begun in another tab.
function csrfToken() {
  return document.cookie.split("; ").find((each) => each.startsWith("csrftoken="))?.split("=")[1] ?? "";
}

document.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-CSRFToken"] = csrfToken();
});

// What a refusal says itself: of what comes too often, or an errand that took too much or had no turn; "" for others.
function reasonOf(xhr) {
  return [413, 424, 429, 503].includes(xhr.status) ? xhr.responseText : "";
}

// A failed request is reported at the top of the page. The page of a new import reports it next to its button, and a page
// that follows an import or a lab has a message of its own for a server that does not answer, or fails.
(() => {
  const NO_ANSWER = 0; // as the status of a request
  const PAGE_BODY = "#content > .page-body > .container-xl";
  const FAILED = {
    [NO_ANSWER]: "Millrace does not answer. What you see may be out of date, and what you did last may not have been done.",
    403: "That was refused: you may not do it, or you have signed in or out since the page was opened. Reload the page.",
    404: "That no longer exists. Reload the page.",
  };
  const asksByItself = (element) => element.matches("[data-refresh], [hx-trigger^=every]");
  const over = new WeakSet(); // what asks by itself and was refused
  for (const name of ["htmx:sendError", "htmx:responseError"]) {
    document.addEventListener(name, (event) => {
      const { status } = event.detail.xhr;
      const follows = document.querySelector("[data-unreachable]");
      const refused = status !== NO_ANSWER && status in FAILED;
      const byItself = asksByItself(event.target);
      if (refused && byItself) over.add(event.target);
      if (event.target.closest(".source") || (event.target === follows && !refused)) return;
      if (follows && status === NO_ANSWER) return;
      const text = reasonOf(event.detail.xhr) || (FAILED[status] ?? "That failed on the server. Reload the page.");
      sayFailure(status, text, byItself);
    });
  }
  // What takes long can be cancelled: the server ends its work when the browser no longer waits.
  const PATIENCE = 3000; // milliseconds
  document.addEventListener("htmx:beforeSend", ({ detail: { elt, xhr, requestConfig } }) => {
    if (!requestConfig.triggeringEvent?.isTrusted) return; // Nobody has pressed or chosen anything.
    const said = document.createElement("div");
    const cancel = document.createElement("button");
    said.className = "alert alert-info";
    said.setAttribute("role", "status");
    cancel.className = "btn btn-sm ms-2";
    cancel.textContent = "Cancel";
    cancel.addEventListener("click", () => htmx.trigger(elt, "htmx:abort"));
    said.append("This takes longer than usual.", cancel);
    const timer = setTimeout(() => document.querySelector(PAGE_BODY).prepend(said), PATIENCE);
    xhr.addEventListener("loadend", () => {
      clearTimeout(timer);
      said.remove();
    });
  });
  document.addEventListener("htmx:beforeRequest", (event) => over.has(event.detail.elt) && event.preventDefault());
  document.addEventListener("htmx:afterRequest", (event) => {
    const said = document.getElementById("request-failed");
    if (!said || !event.detail.successful) return;
    const recovered = "byItself" in said.dataset && asksByItself(event.detail.elt);
    if (recovered || said.dataset.status === String(NO_ANSWER)) said.remove();
  });

  // A failure of a press is said for each press; that of what asks by itself once, until it succeeds.
  function sayFailure(status, text, byItself) {
    const before = document.getElementById("request-failed");
    if ((byItself || status === NO_ANSWER) && before?.dataset.status === String(status)) return;
    before?.remove();
    const said = document.createElement("div");
    said.id = "request-failed";
    said.className = "alert alert-warning";
    said.dataset.status = status;
    said.toggleAttribute("data-by-itself", byItself);
    said.setAttribute("role", "alert");
    said.textContent = text;
    document.querySelector(PAGE_BODY).prepend(said);
    if (status !== NO_ANSWER) said.scrollIntoView({ block: "nearest" });
  }
})();

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

// <button data-print>: prints the page.
document.addEventListener("click", (event) => event.target.closest("[data-print]") && print());

// <button data-fill="ID" value="text">: enters the text in the field with that id.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-fill]");
  if (!button) return;
  const field = document.getElementById(button.dataset.fill);
  field.value = button.value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
});

// <form data-confirm="question">: asks the question before the form is sent.
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

// A form that loads a page is sent once. The browser would show the answer to a second press alone, which finds done what
// the first one asked for: "there is one of this name", and the link or token of the first answer is lost.
(() => {
  const MOST_SECONDS = 30; // The browser may have stopped loading: a press after that is meant.
  const sent = new Map(); // the pressed button of each form, or null

  function hold(form, button) {
    sent.set(form, button);
    button?.classList.add("btn-loading");
    form.setAttribute("aria-busy", "true");
    setTimeout(() => release(form), 1000 * MOST_SECONDS);
  }

  function release(form) {
    sent.get(form)?.classList.remove("btn-loading");
    sent.delete(form);
    form.removeAttribute("aria-busy");
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.getAttribute("method") !== "post") return; // refused, or sent by htmx
    if (sent.has(form)) return event.preventDefault();
    hold(form, event.submitter);
  });

  // <form hx-post data-once>: htmx sends it, perhaps after other requests, and its answer leads to another page. Capturing:
  // before htmx sees the press.
  document.addEventListener(
    "submit",
    (event) => {
      if (!event.target.matches("[hx-post][data-once]")) return;
      if (!sent.has(event.target)) return hold(event.target, event.submitter);
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );
  document.addEventListener("htmx:afterRequest", ({ detail: { elt, xhr } }) => {
    if (sent.has(elt) && !xhr.getResponseHeader("HX-Redirect")) release(elt);
  });
  // On the window, after the scripts of the page: one of them has stopped the request.
  addEventListener("htmx:beforeRequest", (event) => event.defaultPrevented && release(event.detail.elt));

  // The page is shown again, by the browser's way back.
  addEventListener("pageshow", () => [...sent.keys()].forEach(release));
})();

// A click on a heading while the filter's request is still delayed: that request must use the new order too.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.sort");
  const choice = document.getElementById("sort-choice");
  if (!link || !choice) return;
  const wanted = new URLSearchParams(link.search).get("sort");
  if (![...choice.options].some((option) => option.value === wanted)) choice.add(new Option(wanted, wanted));
  choice.value = wanted;
});
