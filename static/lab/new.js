// The page of a new lab: a preview that arrives while a field is edited is dropped, so that it does not replace the
// text. Leaving the field requests the preview again.
document.addEventListener("htmx:beforeSwap", (event) => {
  const field = document.activeElement;
  if (field?.closest("#lab-form") && field.defaultValue !== undefined && field.value !== field.defaultValue) {
    event.detail.shouldSwap = false;
  }
});
