import { blockDurations } from './block-durations.js'
import { el, setText } from './dom.js'
import { counted } from './format.js'

/**
 * Creates the bar of what can be done to the selected clients of a limiter. It says what was done, or what
 * failed.
 */
export function selectionBar({ limiter, actions, onClear }) {
  const number = el('b', {})
  const status = el('p', { class: 'done', role: 'status' })
  const changes = el(
    'span',
    { class: 'bar' },
    button('Release', () => run('release', {}, 'Released')),
    ...blockDurations().map(([name, durationMs]) =>
      button(`Block for ${name}`, () => run('block', { durationMs }, 'Blocked')),
    ),
  )
  const copy = button('Copy', async () => {
    await navigator.clipboard.writeText(selected.map(({ identity }) => identity).join('\n'))
    setText(status, `Copied ${counted(selected.length, 'identity').replace('identitys', 'identities')}.`)
  })
  const bar = el('div', { class: 'selection' }, number, changes, copy, button('Clear', onClear))
  const element = el('div', { class: 'selection-holder' }, status, bar)
  let selected = []

  async function run(action, body, done) {
    const identities = Array.from(new Set(selected.map(({ identity }) => identity)))
    const { changed, failures } = await actions.changeAll(action, identities, { limiter, ...body })
    const failed = failures.length === 0 ? '' : ` Failed for ${failures.length}: ${failures[0]}`
    if (changed === 0 && failures.length === 0) return // no name was given
    setText(status, `${done} ${counted(changed, 'client')} in ${limiter}.${failed}`)
    status.classList.toggle('problem', failures.length > 0)
    if (failures.length === 0) onClear()
  }

  return {
    element,
    show(clients) {
      selected = clients
      bar.hidden = clients.length === 0
      setText(number, `${counted(clients.length, 'client')} selected`)
    },
    allow({ canChange }) {
      changes.hidden = !canChange
    },
  }
}

function button(text, onclick) {
  return el('button', { type: 'button', onclick }, text)
}
