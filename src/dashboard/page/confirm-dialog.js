import { el, setText } from './dom.js'
import { randomId } from './random-id.js'

const MAX_REASON = 500

/**
 * Asks to confirm a change, with who makes it and why. The focus is on the button that confirms, or on the reason if
 * it is still to be written. `run(author)` makes the change, and resolves with what was done, or with `undefined` if there is more to read first. A change
 * that is confirmed again, because its outcome is unknown, has the same `id`: it is made once.
 */
export function confirmDialog({ title, verb, content = [], reason, actions, run, onDone }) {
  const opener = document.activeElement
  const remembered = actions.rememberedName()
  const name = el('input', { name: 'by', maxlength: '200', autocomplete: 'name', value: remembered })
  const why = el('input', { name: 'reason', required: true, maxlength: String(MAX_REASON) })
  why.value = reason.slice(0, MAX_REASON)
  const problem = el('p', { class: 'problem', role: 'alert', hidden: true })
  const confirm = el('button', { type: 'submit' }, verb)
  const first = why.value === '' ? why : confirm
  first.setAttribute('autofocus', '')
  const form = el(
    'form',
    { method: 'dialog', onsubmit: submit, oninput: renew },
    ...content,
    el('label', {}, 'Reason, for the history', why),
    remembered === undefined ? undefined : el('label', {}, 'Your name, for the history', name),
    problem,
    el(
      'div',
      { class: 'bar' },
      confirm,
      el('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'),
    ),
  )
  const dialog = el(
    'dialog',
    { class: 'confirm', 'aria-labelledby': 'confirm-title' },
    el('h2', { id: 'confirm-title' }, title),
    form,
  )
  let id = randomId()
  let isRunning = false

  /** Another change than the one that was sent has another id. */
  function renew() {
    id = randomId()
  }

  async function submit(event) {
    event.preventDefault()
    if (isRunning) return
    isRunning = true
    confirm.setAttribute('aria-busy', 'true')
    problem.hidden = true
    try {
      const by = actions.nameOf(name.value)
      const done = await run({ ...by, reason: why.value.trim(), id })
      if (done !== undefined) {
        dialog.close()
        onDone(done)
      }
    } catch (error) {
      setText(problem, textOf(error))
      problem.hidden = false
    }
    confirm.removeAttribute('aria-busy')
    isRunning = false
  }

  dialog.addEventListener('close', () => {
    dialog.remove()
    if (opener?.isConnected) opener.focus({ preventScroll: true })
  })
  document.body.append(dialog)
  dialog.showModal()
  return {
    setVerb: (text) => setText(confirm, text),
    close: () => dialog.close(),
  }
}

/** Returns what went wrong, and what to do if the outcome is unknown. */
export function textOf({ message, isUnknown }) {
  if (!isUnknown) return message
  return `The outcome is unknown. ${message.replace(/\.?$/, '.')} Check what is in force, or press the button again. The change is made only once.`
}
