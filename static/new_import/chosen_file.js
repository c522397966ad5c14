// A file that somebody has chosen: whether it is another one, whether the browser can read it, and its checksums.

const NO_MORE = ["NotReadableError", "NotFoundError"]; // of a file that changed after it was chosen, or that is gone

function isSame(one, other) {
  return ["name", "size", "type", "lastModified"].every((each) => one[each] === other[each]);
}

// Whether the browser can still read the file. Without checksums, the request fails as if the connection were lost.
async function isReadable(file) {
  try {
    await file.slice(0, 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

async function checksum(file, offset, length) {
  const digest = await crypto.subtle.digest("SHA-256", await file.slice(offset, offset + length).arrayBuffer());
  return `sha256 ${btoa(String.fromCharCode(...new Uint8Array(digest)))}`;
}
