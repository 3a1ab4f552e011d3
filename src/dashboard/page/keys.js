import { el } from './dom.js'

const KEYS = [
  ['/', 'search'],
  ['j', 'next row'],
  ['k', 'previous row'],
  ['Enter', 'open the row'],
  ['x', 'select the client'],
  ['X', 'select the range from the last selected client'],
  ['Esc', 'go back, or leave a field'],
  ['o', 'overview'],
  ['?', 'these keys'],
]

/**
 * Connects the keyboard. `search()` returns the field of the present view, and `back()` leaves it. Keys that a field
 * or a shortcut of the browser needs stay theirs.
 */
export function connectKeys({ search, back, overview }) {
  const help = helpDialog()
  const actions = {
    '/': () => search()?.focus(),
    j: () => move(1),
    k: () => move(-1),
    x: () => selectRow(false),
    X: () => selectRow(true),
    o: overview,
    '?': () => help.showModal(),
    Escape: back,
  }
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    if (document.querySelector('dialog[open]')) return
    if (event.target.matches('input:not([type="checkbox"]), textarea, select')) {
      if (event.key === 'Escape') event.target.blur()
      return
    }
    const action = actions[event.key]
    if (action === undefined) return
    event.preventDefault()
    action()
  })
  return () => help.showModal()
}

/** Focuses the next row that can be opened, or one before; the first one if none has the focus. */
function move(by) {
  const rows = Array.from(document.querySelectorAll('[data-move]')).filter((row) => row.checkVisibility())
  const at = rows.indexOf(document.activeElement)
  const row = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]
  row?.focus({ preventScroll: true })
  row?.closest('li, tr')?.scrollIntoView({ block: 'nearest' })
}

/** Selects the client of the row that has the focus, alone or as the end of a range. */
function selectRow(shiftKey) {
  const box = document.activeElement?.closest('tr')?.querySelector('input[type="checkbox"]')
  box?.dispatchEvent(new MouseEvent('click', { shiftKey }))
}

function helpDialog() {
  const rows = KEYS.map(([key, text]) => el('div', {}, el('dt', {}, el('kbd', {}, key)), el('dd', {}, text)))
  const dialog = el(
    'dialog',
    { class: 'help', 'aria-labelledby': 'help-title' },
    el('h2', { id: 'help-title' }, 'Keys'),
    el('dl', {}, ...rows),
    el('form', { method: 'dialog' }, el('button', { type: 'submit' }, 'Close')),
  )
  document.body.append(dialog)
  return dialog
}
