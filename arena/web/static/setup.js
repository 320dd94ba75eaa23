/** Forms that are sent as soon as something is chosen. */
for (const form of document.querySelectorAll("form[data-autosubmit]")) {
  if (!(form instanceof HTMLFormElement)) continue;
  for (const button of form.querySelectorAll("[data-without-script]")) button.setAttribute("hidden", "");
  form.addEventListener("change", () => form.requestSubmit());
}
