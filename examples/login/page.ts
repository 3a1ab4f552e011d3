/** Allows no scripts, no framing of the form, and no form submission to other origins. */
export const CONTENT_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

/**
 * Returns the login form, which works without JavaScript. A problem is shown in a summary above the form,
 * which takes the focus.
 */
export function loginPage({ problem = '', username = '' } = {}): string {
  const summary = problem
    ? `<div class="problem" role="alert" tabindex="-1" autofocus>
        <h2>You are not logged in</h2>
        <p>${escaped(problem)}</p>
      </div>`
    : ''
  return page(
    problem ? 'Error: Log in' : 'Log in',
    `<h1>Log in</h1>
      ${summary}
      <form method="post" action="/login">
        <label for="username">User name</label>
        <input id="username" name="username" value="${escaped(username)}" required maxlength="100"
          autocomplete="username" autocapitalize="none" spellcheck="false">
        <label for="password">Password</label>
        <input id="password" name="password" type="password" required autocomplete="current-password">
        <button>Log in</button>
      </form>`,
  )
}

/** Returns the page of a user who is logged in. */
export function homePage(name: string): string {
  return page(
    'Home',
    `<h1>Welcome, ${escaped(name)}</h1>
      <p>You are logged in.</p>
      <form method="post" action="/logout"><button>Log out</button></form>`,
  )
}

function page(title: string, main: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} - headgate example</title>
    <link rel="icon" href="data:,">
    <style>${STYLE}</style>
  </head>
  <body>
    <main>
      ${main}
    </main>
  </body>
</html>
`
}

/** Escapes text for HTML. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #f3f5f7; --card: #ffffff; --ink: #10181f; --line: #dbe1e7; --edge: #7c8994;
  --water: #0b5cad; --water-ink: #ffffff; --stop: #b3380b; --stop-soft: #fbe9e1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0c1116; --card: #131a21; --ink: #e4ebf1; --line: #26313b; --edge: #6f7f8d;
    --water: #63b3f7; --water-ink: #06121d; --stop: #ff9166; --stop-soft: #3a1e13;
  }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 12vh 1rem 2rem; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 24rem; margin: auto; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.75rem; }
h1 { margin: 0 0 1.25rem; font-size: 1.75rem; line-height: 1.2; letter-spacing: -0.02em; overflow-wrap: anywhere; }
h2 { margin: 0 0 0.25rem; font-size: 1rem; }
p { margin: 0; }
p + form { margin-top: 1.5rem; }
label { display: block; margin-bottom: 0.25rem; font-weight: 600; }
input { width: 100%; margin-bottom: 1.25rem; padding: 0.6rem 0.75rem; border: 1px solid var(--edge); border-radius: 0.4rem; background: var(--card); color: inherit; font: inherit; }
button { width: 100%; margin-top: 0.25rem; padding: 0.7rem; border: 0; border-radius: 0.4rem; background: var(--water); color: var(--water-ink); font: inherit; font-weight: 600; cursor: pointer; }
.problem { margin-bottom: 1.5rem; padding: 0.75rem 1rem; border-left: 0.3rem solid var(--stop); border-radius: 0.25rem; background: var(--stop-soft); }
:focus-visible { outline: 2px solid var(--water); outline-offset: 2px; }
`
