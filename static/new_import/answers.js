// What the answer to a request of an upload means. The site answers with short plain text. Its pages of errors and those of
// proxies are HTML, which is not shown, and the answer to HEAD has no text.

const NO_CONNECTION = 0; // as the status of a request
const AWAY = [502, 503, 504]; // what a proxy answers while Millrace starts
const MEANINGS = {
  [NO_CONNECTION]: "No connection to Millrace. The upload continues by itself when it is back.",
  401: "Your session has ended. Sign in again in another tab, then resume.",
  403: "The page is out of date: reload it, then drop the file again.",
  404: "This upload is no longer there; perhaps it was removed in another tab. Choose the file again.",
  413: "A proxy in front of Millrace refuses parts of this size. Ask an admin to raise its limit of a request's size.",
  429: "There were too many requests. The upload waits, and continues by itself.",
  ...Object.fromEntries(AWAY.map((status) => [status, "Millrace does not answer. The upload continues by itself when it does."])),
};

// The answer that an error of tus or of DirectUpload is about; undefined if there was none.
function answerOf(error) {
  return error.originalResponse ?? error.causingError?.answer;
}

function statusOf(answer) {
  return answer?.getStatus() ?? NO_CONNECTION;
}

// The answer in words.
function wordsOf(answer) {
  const status = statusOf(answer);
  const text = answer?.getHeader("Content-Type")?.startsWith("text/plain") ? answer.getBody() : "";
  return text || (MEANINGS[status] ?? `The server did not answer as it should (status ${status}). Resume in a moment.`);
}

// Throws unless the answer to HEAD says how much has arrived, or that there is no such upload. For tus, each answer but 2xx
// and 423 says that there is none: it would forget the upload, and begin again with the first byte.
function requireKnown(request, answer) {
  const status = answer.getStatus();
  if (request.getMethod() !== "HEAD" || status < 300 || [404, 410, 423].includes(status)) return;
  throw Object.assign(new Error(`The upload's state is not known: status ${status}.`), { answer });
}
