import { el } from './dom.js'
import { DAY_MS } from './finding-actions.js'
import { overrideDialog } from './override-dialog.js'

/** Creates a form that overrides the limits of a client, an address or a network that an operator types. */
export function targetForm({ limiter, actions, onDone }) {
  const target = el('input', { name: 'target', required: true, autocomplete: 'off', spellcheck: 'false' })
  const effect = el(
    'select',
    { name: 'effect', 'aria-label': 'What to do' },
    ...['block', 'exempt', 'raise'].map((each) => el('option', { value: each }, each)),
  )

  function submit(event) {
    event.preventDefault()
    const text = target.value.trim()
    overrideDialog({
      actions,
      limiter,
      effect: effect.value,
      targets: [{ identity: text }],
      who: text,
      durationMs: DAY_MS,
      reason: '',
      onDone(done) {
        target.value = ''
        onDone(done)
      },
    })
  }

  return {
    element: el(
      'form',
      { class: 'bar adding', onsubmit: submit },
      el('label', {}, 'Client, address or network', target),
      effect,
      el('button', { type: 'submit', class: 'quiet-submit' }, 'Continue…'),
    ),
  }
}
