// The new import page: uploads files straight into the store (direct.js) where browsers reach it, else by the tus
// protocol, a box each. Below the row of an upload stands a preview of what has arrived, or the import that follows the
// upload; when the upload is complete, the whole file's preview is shown alone.

const MOST_UPLOADS = 2; // uploads at a time; the others wait
const MOST_TRIES = 3; // of adding a file to the form of the first one
const PART_SECONDS = 4; // how long a part should take: a part that breaks off is sent again
const LOOK_SECONDS = 30; // between two looks whether a server that is away is back
const FIRST_PART = 2 ** 20;
const SMALLEST_PART = 2 ** 16;
const drop = document.getElementById("drop");
const files = document.getElementById("files");
const choice = document.getElementById("file-choice");
const news = document.getElementById("upload-news"); // for screen readers: the row of an upload goes without a word
const dropProblem = document.getElementById("drop-problem");
const queue = [];
const running = new Set();
const uploads = []; // also those whose row has left the page

// --- sizes and durations in the form that the pages use ---

const { size } = charts;

function duration(seconds) {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// --- one part ---

function partBytes(wanted) {
  return Math.round(Math.min(Math.max(wanted, SMALLEST_PART), Number(drop.dataset.partBytes)));
}

// After the next answer, or when what it brought is settled: until then new elements have the classes of old ones.
function nextAnswer() {
  return new Promise((resolve) => {
    for (const name of ["htmx:afterRequest", "htmx:afterSettle"]) document.addEventListener(name, resolve, { once: true });
  });
}

// The form of the first file, if that is another one.
function first(upload) {
  const form = files.querySelector("form[id^=form-]");
  return form && !upload.box.contains(form) ? form : null;
}

// Shows the answer to a request; nothing if the server does not answer, or if a newer request replaced this one.
async function ask(...request) {
  await htmx.ajax(...request).catch(() => {});
}

let showing = Promise.resolve();

// --- one upload ---

class Upload {
  constructor(file) {
    this.file = file;
    this.row = document.getElementById("upload-row").content.firstElementChild.cloneNode(true);
    this.part("name").textContent = file.name;
    this.progress = this.row.querySelector("progress");
    this.progress.max = file.size || 1;
    this.progress.setAttribute("aria-label", `Upload of ${file.name}`);
    for (const action of ["pause", "resume", "remove"]) {
      const button = this.part(action);
      button.setAttribute("aria-label", `${button.textContent} the upload of ${file.name}`);
      button.addEventListener("click", () => this[action]());
    }
    this.enough = FIRST_PART; // bytes to ask for a preview
    this.box = document.createElement("div");
    this.box.append(this.row);
    files.append(this.box);
    this.tus = new tus.Upload(file, {
      endpoint: drop.dataset.endpoint,
      chunkSize: partBytes(FIRST_PART),
      metadata: { filename: file.name },
      retryDelays: [0, 1000, 3000, 5000, 10000, 20000],
      removeFingerprintOnSuccess: true,
      onBeforeRequest: (request) => this.prepare(request),
      onAfterResponse: requireKnown,
      onChunkComplete: (sent, accepted) => {
        this.choosePartBytes(sent);
        this.showArrived(accepted);
      },
      onShouldRetry: (error) => this.worthRetrying(error),
      onProgress: (sent) => this.showProgress(sent),
      onSuccess: () => this.showPreview(),
      onError: (error) => this.showError(error),
    });
  }

  part(name) {
    return this.row.querySelector(`[data-upload-part=${name}]`);
  }

  // A problem is read out with the file's name; progress is not.
  setStatus(text, problem = false) {
    const status = this.part("status");
    if (status.textContent !== text) status.textContent = text; // said once
    status.classList.toggle("text-danger", problem);
    if (problem) this.row.setAttribute("role", "alert");
    else this.row.removeAttribute("role");
  }

  showButtons(...actions) {
    for (const action of ["pause", "resume", "remove"]) this.part(action).hidden = !actions.includes(action);
  }

  async start() {
    running.add(this);
    this.began = undefined;
    this.showButtons("pause", "remove");
    if (!this.tus.url) {
      const earlier = await this.tus.findPreviousUploads(); // interrupted uploads of this file
      if (earlier.length) this.tus.resumeFromPreviousUpload(earlier[0]);
      // Without a store for browsers, the page does not load direct.js.
      else if (drop.dataset.direct && DirectUpload.offered()) return this.startDirect();
    }
    if (running.has(this)) this.tus.start();
  }

  async startDirect() {
    const headers = () => ({ "X-CSRFToken": csrfToken() });
    this.direct ??= new DirectUpload(this.file, drop.dataset.direct, headers, (sent) => this.showProgress(sent));
    try {
      if (running.has(this) && (await this.direct.start())) this.showPreview();
    } catch (error) {
      if (error instanceof StoreUnreachable) await this.goThroughSite();
      else this.showError(error);
    }
  }

  // The store does not answer to this browser: the file goes through this site, which keeps nothing of the parts.
  async goThroughSite() {
    DirectUpload.reachable = false;
    await this.removeDirect();
    if (running.has(this)) this.start();
  }

  async removeDirect() {
    const { direct } = this;
    this.direct = undefined;
    direct.forget();
    if (!direct.key) return;
    const headers = { "X-CSRFToken": csrfToken(), "Tus-Resumable": "1.0.0" };
    // If the request is lost, the server removes the upload later.
    await fetch(drop.dataset.endpoint + `${direct.key}/`, { method: "DELETE", headers }).catch(() => {});
  }

  // The key of the upload.
  get key() {
    return (this.direct ?? this.tus).url.split("/").filter(Boolean).pop();
  }

  async prepare(request) {
    request.setHeader("X-CSRFToken", csrfToken());
    if (request.getMethod() !== "PATCH") return;
    // Browsers compute checksums only on pages that come over HTTPS or from this machine.
    if (crypto.subtle) {
      const offset = Number(request.getHeader("Upload-Offset"));
      request.setHeader("Upload-Checksum", await checksum(this.file, offset, this.tus.options.chunkSize));
      if (!running.has(this)) throw new Error("Paused or removed.");
    }
    this.partBegan = performance.now();
  }

  choosePartBytes(sent) {
    const seconds = (performance.now() - this.partBegan) / 1000;
    this.tus.options.chunkSize = partBytes(Math.min((sent * PART_SECONDS) / seconds, 4 * this.tus.options.chunkSize));
  }

  showProgress(sent) {
    if (!navigator.onLine) return; // what the browser had taken before
    this.stalled = false;
    const now = performance.now();
    this.began ??= { at: now, sent };
    const rate = (1000 * (sent - this.began.sent)) / (now - this.began.at);
    this.progress.value = sent;
    const speed = rate > 0 ? ` · ${size(rate)}/s · ${duration((this.file.size - sent) / rate)} left` : "";
    this.setStatus(sent < this.file.size ? `${size(sent)} of ${size(this.file.size)}${speed}` : "Checking what arrived");
  }

  async pause() {
    this.leave();
    this.direct?.abort();
    await this.tus.abort();
    this.setStatus(`Paused at ${size(this.progress.value)} of ${size(this.file.size)}`);
    this.showButtons("resume", "remove");
    this.part("resume").focus();
  }

  get canResume() {
    return !this.part("resume").hidden;
  }

  resume() {
    enqueue(this);
    this.part("pause").focus();
  }

  async remove() {
    const followed = this.box.querySelector("[data-follows]");
    if (followed && !confirm(`The import of ${this.file.name} ends, too. Remove the upload?`)) return;
    this.leave();
    queue.splice(0, queue.length, ...queue.filter((each) => each !== this));
    this.direct?.abort();
    if (this.direct) await this.removeDirect();
    await this.tus.abort(true).catch(() => {}); // If the request is lost, the server removes the upload later.
    this.box.remove();
    choice.focus();
  }

  get address() {
    return drop.dataset.preview.replace(drop.dataset.anyKey, this.key);
  }

  // The preview of what has arrived: asked for again when there is more, since a packed file may need more than a sample.
  async showArrived(accepted) {
    if (first(this)) return;
    if (accepted >= this.file.size || accepted < this.enough || this.box.children.length > 1) return;
    this.enough = 4 * accepted;
    const place = document.createElement("div");
    this.box.append(place);
    this.asked = ask("GET", this.address, { target: place, swap: "outerHTML" });
    await this.asked;
    place.remove();
  }

  showPreview() {
    this.leave();
    this.showButtons();
    this.setStatus("Looking into it");
    showing = showing.catch(() => {}).then(() => this.showWhole()); // one after the other: the first file's form takes up the others
  }

  async showWhole() {
    await this.asked;
    const follows = this.box.querySelector("[data-follows]");
    let joined = false;
    for (let tries = 0; !joined && !follows && first(this) && tries < MOST_TRIES; tries++) joined = await this.join();
    if (!joined) await this.showAlone();
    if (!this.row.isConnected) news.textContent = `${this.file.name} has arrived.`;
  }

  // Adds the file to the form of the first one, which may apply its settings to all. The answer has it, or says why not.
  async join() {
    while (first(this)?.closest(".source").querySelector(".htmx-request")) await nextAnswer();
    const form = first(this); // each answer brings a new one
    if (!form) return false;
    const values = { add: this.key };
    await ask("POST", form.getAttribute("hx-post"), { source: form, target: form.closest(".source"), swap: "outerHTML", values });
    if (files.querySelector(`[name=also][value*="${this.key}"]`)) {
      this.box.remove();
      return true;
    }
    const refusal = files.querySelector(`[data-refused="${this.key}"]`);
    if (refusal) this.part("status").replaceChildren(...refusal.childNodes);
    return Boolean(refusal);
  }

  async showAlone() {
    while (this.box.querySelector(".htmx-request")) await nextAnswer();
    const followed = this.box.querySelector("[data-follows]");
    const form = this.box.querySelector("form[id^=form-]");
    if (followed && files.children.length === 1 && !running.size) return location.assign(followed.dataset.follows);
    if (followed) return this.row.remove();
    const how = { target: this.box, swap: "outerHTML", ...(form && { source: form }) };
    await ask(form ? "POST" : "GET", form ? form.getAttribute("hx-post") : this.address, how);
    if (this.row.isConnected) this.setStatus("It has arrived, but cannot be shown now. Open New import again: it is under Recent files.", true);
  }

  worthRetrying(error) {
    if (NO_MORE.includes(error.causingError?.name)) return false;
    const status = statusOf(answerOf(error));
    if ([NO_CONNECTION, ...AWAY].includes(status)) this.stall(wordsOf(answerOf(error)));
    if (error.originalRequest?.getMethod() === "PATCH") this.tus.options.chunkSize = partBytes(this.tus.options.chunkSize / 4);
    return [NO_CONNECTION, 408, 409, 423, 460].includes(status) || (status >= 500 && status !== 507);
  }

  async showError(error) {
    const answer = answerOf(error);
    if (!answer && !(await isReadable(this.file))) {
      return this.showEnd("The file has changed on your computer or is no longer there. Choose it again.", true);
    }
    if (!running.has(this)) return; // It was paused or removed meanwhile.
    const status = statusOf(answer);
    if (status === 429) return this.waitForTurn(wordsOf(answer), Number(answer.getHeader("Retry-After")) || 5);
    if ([NO_CONNECTION, ...AWAY].includes(status)) return this.waitForTurn(wordsOf(answer), LOOK_SECONDS, true);
    this.showEnd(wordsOf(answer), [404, 413, 422, 507].includes(status));
  }

  // `final`: the upload cannot be resumed.
  showEnd(words, final) {
    this.leave();
    this.over = final;
    this.setStatus(words, true);
    this.progress.hidden = final;
    this.showButtons(...(final ? ["remove"] : ["resume", "remove"]));
  }

  // Nothing moves now: a rate and a time left would be those of before. The next bytes begin a new measurement.
  stall(words) {
    this.stalled = true;
    this.began = undefined;
    this.setStatus(words, true);
  }

  // The network is back: no delay between two tries is waited for.
  async goOn() {
    if (this.waiting) return this.stopWaiting();
    if (!this.stalled || this.direct) return;
    await this.tus.abort();
    if (running.has(this)) this.start();
  }

  waitForTurn(words, seconds, problem = false) {
    this.setStatus(words, problem);
    this.waiting = setTimeout(() => this.stopWaiting(), 1000 * seconds);
  }

  stopWaiting() {
    if (!this.waiting) return;
    clearTimeout(this.waiting);
    this.waiting = undefined;
    this.start();
  }

  leave() {
    clearTimeout(this.waiting);
    this.waiting = undefined;
    running.delete(this);
    startNext();
  }
}

function enqueue(upload) {
  upload.setStatus("Waiting for the files before it");
  upload.showButtons("remove");
  queue.push(upload);
  startNext();
}

function startNext() {
  while (queue.length && running.size < MOST_UPLOADS) queue.shift().start();
}

// --- where files come from ---

// A file whose upload is on the page resumes it: a second upload of the file would be the same one for the server.
function take(chosen, problem = "") {
  const said = problem ? [problem] : [];
  for (const file of chosen) {
    const same = uploads.find((each) => each.row.isConnected && isSame(each.file, file));
    if (same?.canResume) same.resume();
    else if (same && !same.over) said.push(`${file.name} is on this page already.`);
    else {
      same?.box.remove(); // What ended it may have changed.
      uploads.push(new Upload(file));
      enqueue(uploads.at(-1));
    }
  }
  dropProblem.textContent = said.join(" ");
}

choice.addEventListener("change", () => {
  take(choice.files);
  choice.value = ""; // so that the same file can be chosen again
});

// Files that were dropped or pasted anywhere on the page (drop.js).
document.addEventListener("millrace:files", (event) => {
  event.preventDefault();
  take(event.detail.files, event.detail.problem);
});

// Text that was typed or pasted into the field becomes a file.
document.getElementById("paste-use").addEventListener("click", () => {
  const field = document.getElementById("paste-text");
  if (!field.value.trim()) return field.focus();
  take([pastedFile(field.value)]);
  field.value = "";
  const menu = field.closest("details");
  menu.open = false;
  menu.querySelector("summary").focus(); // The button is no longer there.
});

addEventListener("offline", () => [...running].forEach((each) => each.stall(MEANINGS[NO_CONNECTION])));
addEventListener("online", () => [...running].forEach((each) => each.goOn()));
addEventListener("beforeunload", (event) => {
  if (running.size || queue.length) event.preventDefault();
});
