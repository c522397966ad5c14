// Keeps what was entered in a form when the session has ended: the sign-in page does not replace it. Loaded on the pages
// of somebody who is signed in; the address in `data-session` answers whether somebody still is.

// Whether a form of the page has something to lose: what was entered, and not sent.
function anyFormIsEdited() {
  return [...document.forms].some((form) => isSentByBrowser(form) && fieldsOf(form).some(isEdited));
}

// Whether the browser sends the form and it has something to lose. A field may be named "method", hence getAttribute().
function isSentByBrowser(form) {
  return form.getAttribute("method") === "post" && !form.matches("[hx-post], [data-passkey]") && fieldsOf(form).length > 0;
}

function fieldsOf(form) {
  return [...form.elements].filter((each) => each.name && each.type !== "hidden" && !(each instanceof HTMLButtonElement));
}

function isEdited(field) {
  if (!(field instanceof HTMLSelectElement)) return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
  const options = [...field.options];
  const before = options.filter((each) => each.defaultSelected);
  // The browser chooses the first option if the page chooses none.
  if (!before.length && !field.multiple) before.push(options.find((each) => !each.disabled));
  return options.some((each) => each.selected !== before.includes(each));
}

(() => {
  const { session, signIn } = document.currentScript.dataset;
  const asking = new Set(); // forms that wait for the answer
  const allowed = new Set(); // forms that are sent now

  // Capturing: before the questions and counts of millrace.js, which then see the form once.
  document.addEventListener(
    "submit",
    async (event) => {
      const { target: form, submitter } = event;
      if (!isSentByBrowser(form) || allowed.delete(form)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (asking.has(form)) return;
      asking.add(form);
      const ended = await hasEnded();
      asking.delete(form);
      document.getElementById("session-ended")?.remove();
      if (ended) return sayEnded(submitter?.closest(".card-footer") ?? form);
      // A sign-in in another tab has changed the token.
      form.querySelector("[name=csrfmiddlewaretoken]").value = csrfToken();
      allowed.add(form);
      form.requestSubmit(submitter);
    },
    true,
  );

  // What a page asks for while somebody types would lead to the sign-in page, too.
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    const next = event.detail.xhr.getResponseHeader("HX-Redirect");
    const endedHere = next && new URL(next, location).pathname === new URL(signIn, location).pathname;
    if (endedHere && anyFormIsEdited()) {
      event.preventDefault();
      sayEnded(document.querySelector("#content > .page-body > .container-xl").firstElementChild);
    }
  });

  async function hasEnded() {
    try {
      const answer = await fetch(session, { cache: "no-store" });
      return answer.ok && !(await answer.json()).signed_in;
    } catch {
      return false; // The browser will say that there is no answer.
    }
  }

  // `place`: the element that the message is shown above.
  function sayEnded(place) {
    if (document.getElementById("session-ended")) return;
    const said = document.createElement("div");
    said.id = "session-ended";
    said.className = "alert alert-warning d-block mx-3";
    said.setAttribute("role", "alert");
    const link = Object.assign(document.createElement("a"), { href: signIn, target: "_blank", textContent: "Sign in in another tab" });
    said.append("Your session has ended, and nothing was sent. ", link, ", then press the button again: what you entered stays here.");
    place.before(said);
    // The pressed button stays in sight.
    (place.matches(".card-footer") ? place : said).scrollIntoView({ block: "nearest" });
  }
})();
