// Files that are dropped or pasted on any page begin a new import. On another page, that of a new import opens first.

// Text from the clipboard or a spreadsheet, as a file.
function pastedFile(text) {
  const now = new Date();
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map((each) => String(each).padStart(2, "0")).join("");
  return new File([text], `Pasted ${time}.${text.split("\n", 1)[0].includes("\t") ? "tsv" : "csv"}`, { type: "text/plain" });
}

(() => {
  const newImport = document.body.dataset.newImport; // its address; none for people who may not import
  if (!newImport) return;

  const hasFiles = (event) => event.dataTransfer?.types.includes("Files") && !event.target.closest?.("input[type=file]");
  const isEditable = (target) => target.closest?.("input, textarea, select, [contenteditable]");
  const mark = (over) => document.body.classList.toggle("drop-here", over);

  // Announces the files to the page of a new import, which takes them. False on another page.
  const announce = (detail) => !document.dispatchEvent(new CustomEvent("millrace:files", { detail, cancelable: true }));

  const QUESTION = "A new import takes the place of this page, and what you have entered here is lost. Continue?";

  // Opens the page of a new import in place of this one. A navigation would lose the files, and a copy of them takes time.
  async function open(detail) {
    if (anyFormIsEdited() && !confirm(QUESTION)) return;
    let answer;
    let html;
    try {
      answer = await fetch(newImport);
      html = await answer.text();
    } catch {
      return alert("Millrace does not answer, so the files were not taken. Drop or paste them again when it does.");
    }
    if (!answer.ok || new URL(answer.url).pathname !== newImport) return location.assign(newImport);
    const left = location.pathname;
    history.pushState(null, "", newImport);
    for (let timer = setTimeout(() => {}); timer > 0; timer--) clearTimeout(timer); // those of the page that is left
    document.open(); // also ends the listeners of that page
    // The way back; a link to a part of this page fires the event, too.
    addEventListener("popstate", () => location.pathname === left && location.reload());
    document.addEventListener("DOMContentLoaded", () => announce(detail), { once: true });
    document.write(html);
    document.close();
  }

  function begin(files, folders = []) {
    const names = folders.map((folder) => folder.name).join(", ");
    const detail = { files, problem: names && `${names}: this is a folder. Drop the files in it.` };
    if (!announce(detail)) open(detail);
  }

  document.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  document.addEventListener("dragenter", (event) => hasFiles(event) && mark(true));
  document.addEventListener("dragleave", (event) => event.relatedTarget || mark(false));
  document.addEventListener("drop", (event) => {
    mark(false);
    if (!hasFiles(event)) return;
    event.preventDefault(); // else the browser would leave the page
    const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
    const folders = items.map((item) => item.webkitGetAsEntry?.()).filter((entry) => entry?.isDirectory);
    begin([...event.dataTransfer.files].filter((file) => !folders.some((folder) => folder.name === file.name)), folders);
  });

  // A table of several values, not a word that was meant for a field.
  const isTable = (text) => /[\n\t;,|]/.test(text.trim());
  document.addEventListener("paste", (event) => {
    if (isEditable(event.target)) return;
    const files = [...event.clipboardData.files];
    const text = event.clipboardData.getData("text/plain");
    // A spreadsheet adds a picture of the cells to their text.
    if (text && isTable(text) && document.getElementById("drop")) begin([pastedFile(text)]);
    else if (files.length && !text) begin(files);
  });
})();
