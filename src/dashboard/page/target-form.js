import { changeDialog } from './change-dialog.js'
import { el } from './dom.js'

/**
 * Creates a form that overrides the limits of a client, an address or a network that an operator types, or of all
 * clients whose identity begins with a text.
 */
export function targetForm({ actions, onDone }) {
  const target = el('input', { name: 'target', required: true, autocomplete: 'off', spellcheck: 'false' })
  const isPrefix = el('input', { type: 'checkbox', name: 'prefix' })
  const effect = el(
    'select',
    { name: 'effect', 'aria-label': 'What to do' },
    ...['block', 'exempt', 'raise', 'release'].map((each) => el('option', { value: each }, each)),
  )
  let row

  function submit(event) {
    event.preventDefault()
    const text = target.value.trim()
    changeDialog({
      actions,
      row,
      effect: effect.value,
      targets: [isPrefix.checked ? { identityPrefix: text } : { identity: text }],
      who: isPrefix.checked ? `${text}…` : text,
      onDone(done) {
        target.value = ''
        onDone(done)
      },
    })
  }

  const element = el(
    'form',
    { class: 'bar adding', onsubmit: submit },
    el('label', {}, 'Client, IP address or network', target),
    effect,
    el('button', { type: 'submit', class: 'quiet-submit' }, 'Continue…'),
    el('label', { class: 'check' }, isPrefix, 'All clients whose identity begins with this text'),
  )
  return {
    element,
    show(next, canChange) {
      row = next
      element.hidden = !canChange || row === undefined
    },
  }
}
