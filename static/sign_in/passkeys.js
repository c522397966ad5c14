// Passkeys: a form with data-passkey asks the browser for one, puts it into its field "credential", and is sent.
"use strict";

const WORDS = {
  insecure: "Passkeys work over HTTPS only, or at localhost.",
  NotAllowedError: "No passkey was used: it took too long, was refused, or there is none for this site here.",
  InvalidStateError: "This device has a passkey for your account already.",
  SecurityError: "Passkeys need a host name: they do not work at an IP address.",
};

async function options(form) {
  if (!form.dataset.passkeyOptionsFrom) {
    return JSON.parse(document.getElementById(form.dataset.passkeyOptions).textContent);
  }
  const answer = await fetch(form.dataset.passkeyOptionsFrom, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  return await answer.json();
}

async function credential(form) {
  const { creation_options: creation, request_options: request } = await options(form);
  if (form.dataset.passkey === "get") {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(request.publicKey);
    return await navigator.credentials.get({ publicKey });
  }
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(creation.publicKey);
  // A key that can sign in without a password, if it is able to; an older one is a second factor only.
  publicKey.authenticatorSelection = { residentKey: "preferred", userVerification: "preferred" };
  return await navigator.credentials.create({ publicKey });
}

async function send(form) {
  const alert = form.querySelector("[role=alert]");
  alert.hidden = true;
  try {
    if (!window.PublicKeyCredential) throw new Error(WORDS.insecure);
    form.elements.credential.value = JSON.stringify((await credential(form)).toJSON());
    form.submit();
  } catch (error) {
    alert.textContent = WORDS[error.name] || error.message;
    alert.hidden = false;
  }
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}
