import { announce, element, setText } from './dom.js'
import { sendForJson } from './http.js'

/** The code that runs in the server, by name: read from its sources. */
const snippets = sendForJson('/code')

const TOKEN =
  /(?<comment>\/\/.*)|(?<string>'[^']*'|`[^`]*`)|(?<keyword>\b(?:import|from|const|new|of|return|for(?= \())\b)|(?<call>\b\w+(?=\())/g

/** Creates the view of a piece of code in a figure, with a button that copies it. */
export function createCode(figure) {
  const code = figure.querySelector('code')
  const button = figure.querySelector('button')
  let text = ''

  button.addEventListener('click', () => copy(text, button))

  return async function show(name) {
    text = (await snippets)?.[name] ?? ''
    code.replaceChildren(...highlight(text))
  }
}

/** Copies a text, and says so on the button for a moment. */
export async function copy(text, button) {
  const copied = await navigator.clipboard.writeText(text).then(
    () => 'Copied',
    () => 'Not copied',
  )
  const label = button.textContent
  if (label === 'Copy') setTimeout(() => setText(button, label), 2000)
  setText(button, copied)
  announce(`${copied}.`)
}

/** Returns the nodes of a code: plain text, and spans for what is coloured. */
function* highlight(text) {
  let end = 0
  for (const { 0: token, index, groups } of text.matchAll(TOKEN)) {
    yield text.slice(end, index)
    const [kind] = Object.entries(groups).find(([, found]) => found !== undefined)
    yield element('span', kind, token)
    end = index + token.length
  }
  yield text.slice(end)
}
