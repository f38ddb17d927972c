/** Draws the contract with Swagger UI: everything from this service, nothing asked of anybody else. */

const page = document.getElementById("reference");
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);

dark.addEventListener("change", follow);
follow();
SwaggerUIBundle({
  domNode: page,
  url: page.dataset.contract,
  validatorUrl: null,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
});
