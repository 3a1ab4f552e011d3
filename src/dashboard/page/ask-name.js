import { el } from './dom.js'

/** Asks the operator for a name. Resolves with `undefined` if none is given. */
export function askName() {
  return new Promise((resolve) => {
    const input = el('input', { name: 'operator', required: true, maxlength: '200', autocomplete: 'name' })
    const cancel = el('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel')
    const form = el(
      'form',
      {
        method: 'dialog',
        onsubmit: (event) => {
          event.preventDefault()
          dialog.close(input.value.trim())
        },
      },
      el('h2', { id: 'ask-name-title' }, 'Who are you?'),
      el('p', { class: 'quiet' }, 'Changes are recorded with your name. This browser remembers it.'),
      el('label', {}, 'Your name', input),
      el('div', { class: 'bar' }, el('button', { type: 'submit' }, 'Continue'), cancel),
    )
    const dialog = el('dialog', { 'aria-labelledby': 'ask-name-title' }, form)
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog.returnValue || undefined)
    })
    document.body.append(dialog)
    dialog.showModal()
  })
}
