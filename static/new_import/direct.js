// Puts a file straight into the store, in parts: this site signs the URL of each part, and joins the parts at the end
// (docs/hosts.md). The store knows the parts that have arrived, so an upload continues after a reload.

// Milliseconds before a request is sent again. While no part has ever arrived, the store is given up after the first.
const WAITS = [1000, 3000, 5000, 10000, 20000];

// The store cannot be reached from this browser: no route, or no rule of CORS for this site.
class StoreUnreachable extends Error {}

// This site has answered with a problem; in the form of tus.DetailedError.
class SiteRefused extends Error {
  constructor(answer, words) {
    super(words);
    this.originalResponse = {
      getStatus: () => answer.status,
      getBody: () => words,
      getHeader: (name) => answer.headers.get(name),
    };
  }
}

class DirectUpload {
  static reachable = true;
  static partsAtOnce = 3;

  // `headers()` are those of a request to this site; `onProgress` is given the bytes that are in the store.
  constructor(file, endpoint, headers, onProgress) {
    Object.assign(this, { file, endpoint, headers, onProgress });
    this.name = `millrace:direct:${[endpoint, file.name, file.size, file.lastModified].join(":")}`;
    this.moving = new Map();
    this.checksums = new Map();
  }

  // Whether the store may take the file: browsers compute checksums only on pages over HTTPS or from this machine.
  static offered() {
    return Boolean(crypto.subtle && DirectUpload.reachable);
  }

  get url() {
    return this.key && `${this.endpoint}${this.key}/`;
  }

  // Resolves when the whole file is kept, and when the upload is aborted (false). Throws StoreUnreachable, SiteRefused,
  // TypeError without a connection to this site, and DOMException for a file that the browser can no longer read.
  async start() {
    this.stopping = new AbortController();
    try {
      const state = await this.continued();
      while (state.status === "uploading") {
        await this.sendMissing(state);
        try {
          Object.assign(state, await this.ask("POST", this.url, { sha256: await this.allChecksums(state) }));
        } catch (error) {
          if (error.originalResponse?.getStatus() !== 409) throw error;
          Object.assign(state, await this.ask("GET", this.url)); // A part has been removed since.
        }
      }
      this.forget();
      return true;
    } catch (error) {
      if (this.stopping.signal.aborted) return false;
      this.stopping.abort();
      throw error;
    }
  }

  abort() {
    this.stopping?.abort();
  }

  forget() {
    localStorage.removeItem(this.name);
  }

  // The state of the upload that this browser has begun for the file, or of a new one.
  async continued() {
    this.key ??= localStorage.getItem(this.name);
    if (this.key) {
      try {
        return await this.ask("GET", this.url);
      } catch (error) {
        if (error.originalResponse?.getStatus() !== 404) throw error;
      }
    }
    const begun = await this.ask("POST", this.endpoint, { name: this.file.name, size: this.file.size });
    this.key = begun.file;
    localStorage.setItem(this.name, this.key);
    return begun;
  }

  async sendMissing({ part_bytes: partBytes, parts }) {
    const there = new Set(parts);
    const count = Math.ceil(this.file.size / partBytes);
    const missing = Array.from({ length: count }, (_, index) => index + 1).filter((number) => !there.has(number));
    this.stored = [...there].reduce((bytes, number) => bytes + this.part(number, partBytes).size, 0);
    this.moving.clear();
    this.anyArrived ||= there.size > 0;
    this.onProgress(this.stored);
    const sendNext = async () => {
      while (missing.length) await this.send(missing.shift(), partBytes);
    };
    await Promise.all(Array.from({ length: DirectUpload.partsAtOnce }, sendNext));
  }

  part(number, partBytes) {
    return this.file.slice((number - 1) * partBytes, number * partBytes);
  }

  async send(number, partBytes) {
    const part = this.part(number, partBytes);
    const sha256 = await this.checksum(number, partBytes);
    for (let failures = 0; ; failures++) {
      const { url, headers } = await this.ask("POST", `${this.url}parts/`, { number, sha256 });
      if (await this.put(number, part, url, headers)) break;
      await part.slice(0, 1).arrayBuffer(); // Throws if the file has changed or is gone, and the store is not to blame.
      if (failures >= (this.anyArrived ? WAITS.length : 1)) throw new StoreUnreachable();
      await this.wait(WAITS[failures]);
    }
    this.anyArrived = true;
    this.stored += part.size;
    this.moving.delete(number);
    this.onProgress(this.stored);
  }

  async checksum(number, partBytes) {
    if (!this.checksums.has(number)) {
      const digest = await crypto.subtle.digest("SHA-256", await this.part(number, partBytes).arrayBuffer());
      this.checksums.set(number, btoa(String.fromCharCode(...new Uint8Array(digest))));
    }
    return this.checksums.get(number);
  }

  // Those of parts that arrived before a reload too, so that the store compares them with this file.
  async allChecksums({ part_bytes: partBytes }) {
    const all = [];
    for (let number = 1; (number - 1) * partBytes < this.file.size; number++) all.push(await this.checksum(number, partBytes));
    return all;
  }

  // Whether the store has taken the part.
  put(number, part, url, headers) {
    const { signal } = this.stopping;
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest(); // fetch() reports no progress
      const stop = () => request.abort();
      signal.throwIfAborted();
      signal.addEventListener("abort", stop);
      request.open("PUT", url);
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      request.upload.onprogress = ({ loaded }) => {
        this.moving.set(number, loaded);
        this.onProgress(Math.min(this.stored + [...this.moving.values()].reduce((sum, each) => sum + each, 0), this.file.size - 1));
      };
      request.onabort = () => reject(signal.reason);
      request.onloadend = () => {
        signal.removeEventListener("abort", stop);
        if (request.status < 200 || request.status > 299) this.moving.delete(number);
        resolve(request.status >= 200 && request.status <= 299);
      };
      request.send(part);
    });
  }

  wait(milliseconds) {
    const { signal } = this.stopping;
    return new Promise((resolve, reject) => {
      setTimeout(resolve, milliseconds);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  }

  // The answer of this site, which is asked again while it or its store is away. Throws SiteRefused for a problem, and
  // TypeError without a connection.
  async ask(method, url, body) {
    for (let failures = 0; ; failures++) {
      try {
        return await this.askOnce(method, url, body);
      } catch (error) {
        const status = error.originalResponse?.getStatus() ?? 0;
        const passes = error instanceof TypeError || status === 423 || status >= 500;
        if (!passes || failures === WAITS.length) throw error;
      }
      await this.wait(WAITS[failures]);
    }
  }

  async askOnce(method, url, body) {
    const answer = await fetch(url, {
      method,
      headers: { ...this.headers(), ...(body && { "Content-Type": "application/json" }) },
      body: body && JSON.stringify(body),
      signal: this.stopping.signal,
    });
    if (!answer.ok) throw new SiteRefused(answer, await answer.text());
    return answer.json();
  }
}
