// The page of a new lab: what is being typed is not replaced by the answer to what was typed before; leaving the field
// asks again.
document.addEventListener("htmx:beforeSwap", (event) => {
  const typed = document.activeElement;
  if (typed?.closest("#lab-form") && typed.defaultValue !== undefined && typed.value !== typed.defaultValue) {
    event.detail.shouldSwap = false;
  }
});
