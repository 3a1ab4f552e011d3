import { el, setText } from './dom.js'
import { addressOf } from './route.js'

const SHOWN_MS = 20_000

/**
 * Creates the message that says what was done, with a link to what is in force, and what can be done about it at once,
 * such as to undo it. It leaves after a while, but not while the focus is in it.
 */
export function doneMessage() {
  const text = el('span', {})
  const again = el('button', { type: 'button', class: 'again', onclick: runAgain })
  const element = el(
    'div',
    { class: 'done-message', role: 'status' },
    text,
    ' ',
    again,
    el('a', { href: addressOf({ view: 'in-force' }), onclick: hide }, 'In force'),
    el('button', { type: 'button', class: 'dismiss', 'aria-label': 'Dismiss', onclick: hide }, '×'),
  )
  let timer
  let run
  let hadFocus = false
  hide()
  document.body.append(element)

  function hide() {
    element.classList.add('is-empty')
    setText(text, '')
  }

  function hideLater() {
    clearTimeout(timer)
    timer = setTimeout(() => (element.contains(document.activeElement) ? hideLater() : hide()), SHOWN_MS)
  }

  function runAgain() {
    hadFocus = true
    hide()
    void run()
  }

  return (message, offer) => {
    hideLater()
    setText(text, message)
    run = offer?.run
    again.hidden = offer === undefined
    setText(again, offer?.text ?? '')
    element.classList.remove('is-empty')
    if (hadFocus && offer !== undefined) again.focus({ preventScroll: true })
    hadFocus = false
  }
}
