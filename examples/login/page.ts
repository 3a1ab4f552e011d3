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
  --paper: light-dark(#f5f6f8, #0d1217); --card: light-dark(#ffffff, #141b22);
  --ink: light-dark(#121a21, #e5ecf2); --line: light-dark(#e0e5ea, #25303a);
  --edge: light-dark(#7b8894, #71818f); --brand: light-dark(#0f766e, #2dd4bf);
  --brand-ink: light-dark(#ffffff, #05201d); --red: light-dark(#b3380b, #ff9469);
  --red-soft: light-dark(#fbeae2, #38201a);
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
button { width: 100%; margin-top: 0.25rem; padding: 0.7rem; border: 0; border-radius: 0.4rem; background: var(--brand); color: var(--brand-ink); font: inherit; font-weight: 600; cursor: pointer; }
.problem { margin-bottom: 1.5rem; padding: 0.75rem 1rem; border-left: 0.3rem solid var(--red); border-radius: 0.25rem; background: var(--red-soft); }
:focus-visible { outline: 2px solid var(--brand); outline-offset: 2px; }
`
