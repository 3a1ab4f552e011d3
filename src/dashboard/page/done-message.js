import { el, setText } from './dom.js'
import { addressOf } from './route.js'

const SHOWN_MS = 20_000

/** Creates the message that says what was done, with a link to what is in force. It leaves after a while. */
export function doneMessage() {
  const text = el('span', {})
  const element = el(
    'div',
    { class: 'done-message', role: 'status' },
    text,
    ' ',
    el('a', { href: addressOf({ view: 'in-force' }), onclick: hide }, 'In force'),
    el('button', { type: 'button', class: 'dismiss', 'aria-label': 'Dismiss', onclick: hide }, '×'),
  )
  let timer
  hide()
  document.body.append(element)

  function hide() {
    element.classList.add('is-empty')
    setText(text, '')
  }

  return (message) => {
    clearTimeout(timer)
    timer = setTimeout(hide, SHOWN_MS)
    setText(text, message)
    element.classList.remove('is-empty')
  }
}
