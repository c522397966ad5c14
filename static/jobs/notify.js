// The button "Notify me when it ends": asks the browser for its permission, and shows a notification at the end.
(() => {
  const button = document.getElementById("job-notify");
  // Browsers notify only on pages that were loaded over HTTPS or from this machine.
  if (!button || !("Notification" in window) || !isSecureContext) return;
  let wanted = false;

  function show() {
    const refused = Notification.permission === "denied";
    button.hidden = false;
    button.disabled = refused;
    button.setAttribute("aria-pressed", wanted);
    button.textContent = refused ? "Notifications are blocked in this browser" : wanted ? "You will be notified" : "Notify me when it ends";
  }

  button.addEventListener("click", async () => {
    wanted = !wanted && (await Notification.requestPermission()) === "granted";
    show();
  });

  document.addEventListener("millrace:ended", () => {
    button.hidden = true;
    if (!wanted) return;
    const shown = new Notification(document.title.replace(/ · Millrace$/, ""), { tag: location.pathname, icon: document.querySelector("link[rel=icon]").href });
    shown.addEventListener("click", () => window.focus());
  });

  show();
})();
